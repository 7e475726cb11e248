// A new profile, empty or as a copy. A profile without its service is shown as what it is: done in part (product.md D8).
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { CreateProfileBody, CreateProfileInput } from "#protocol/http-status.ts";
import { client, queries } from "../../app/services.ts";
import { useWords } from "../../i18n/i18n.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Failure } from "../../parts/states.tsx";
import { showToast } from "../../parts/toasts.tsx";

function refresh(): void {
  for (const key of ["profiles", "services", "status"]) {
    void queries.invalidateQueries({ queryKey: [key] });
  }
}

/** The profile is there, its service is not: the step that failed can be done again. */
function Partial(props: { readonly made: CreateProfileBody; readonly onClose: () => void }) {
  const { t } = useWords();
  const { made, onClose } = props;
  const again = useMutation({
    mutationFn: () =>
      client.request("POST", `/api/profiles/${encodeURIComponent(made.name)}/register`, {
        json: {},
      }),
    onSuccess: () => {
      showToast(t.profiles.registered(made.name));
      refresh();
      onClose();
    },
  });
  return (
    <Dialog title={t.profiles.create} onClose={onClose}>
      <div role="alert" className="card grid gap-1 border-warning p-3" data-testid="partial">
        <p className="font-semibold">{t.profiles.partial(made.name)}</p>
        {made.service.detail !== null && (
          <p className="text-sm text-muted-foreground">{made.service.detail}</p>
        )}
      </div>
      {again.isError && <Failure error={again.error} />}
      <div className="flex justify-end gap-2">
        <button type="button" className="button button-ghost" onClick={onClose}>
          {t.common.close}
        </button>
        <button
          type="button"
          className="button button-primary"
          disabled={again.isPending}
          onClick={() => again.mutate()}
        >
          {t.profiles.registerAgain}
        </button>
      </div>
    </Dialog>
  );
}

export function CreateProfile(props: {
  readonly from: string | null;
  readonly names: readonly string[];
  readonly onClose: () => void;
}) {
  const { t } = useWords();
  const { onClose } = props;
  const [name, setName] = useState("");
  const [from, setFrom] = useState(props.from ?? "");
  const [bare, setBare] = useState(false);
  const create = useMutation({
    mutationFn: () => {
      const input: CreateProfileInput = {
        name: name.trim(),
        ...(from !== "" && { clone_from: from }),
        ...(bare && { no_skills: true }),
      };
      return client.request<CreateProfileBody>("POST", "/api/profiles", { json: input });
    },
    onSuccess: (made) => {
      refresh();
      if (!made.ok) return;
      showToast(t.profiles.created(made.name));
      onClose();
    },
  });
  if (create.data?.ok === false) return <Partial made={create.data} onClose={onClose} />;
  const title = props.from === null ? t.profiles.create : t.profiles.cloneOf(props.from);
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <Field label={t.profiles.name} hint={t.profiles.nameHint}>
          {(field) => (
            <input
              {...field}
              className="input"
              autoComplete="off"
              spellCheck={false}
              required
              maxLength={64}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <Field label={t.profiles.from}>
          {(field) => (
            <select
              {...field}
              className="input"
              value={from}
              onChange={(event) => setFrom(event.target.value)}
            >
              <option value="">{t.profiles.fromNothing}</option>
              {props.names.map((known) => (
                <option key={known} value={known}>
                  {t.profiles.fromOf(known)}
                </option>
              ))}
            </select>
          )}
        </Field>
        <label className="flex min-h-6 items-center gap-2">
          <input
            type="checkbox"
            checked={bare}
            onChange={(event) => setBare(event.target.checked)}
          />
          {t.profiles.noSkills}
        </label>
        {create.isError && <Failure error={create.error} />}
        <div className="flex justify-end">
          <button
            type="submit"
            className="button button-primary"
            disabled={create.isPending || name.trim() === ""}
          >
            {props.from === null ? t.profiles.create : t.profiles.clone}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
