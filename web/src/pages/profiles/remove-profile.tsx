// Deleting a profile takes its name, typed.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { profile as shownProfile, client, queries } from "../../app/services.ts";
import { showProfile } from "../../app/profile-switch.tsx";
import { useWords } from "../../i18n/i18n.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Failure } from "../../parts/states.tsx";
import { showToast } from "../../parts/toasts.tsx";

export function RemoveProfile(props: { readonly name: string; readonly onClose: () => void }) {
  const { t } = useWords();
  const { name, onClose } = props;
  const [typed, setTyped] = useState("");
  const remove = useMutation({
    mutationFn: () => client.request("DELETE", `/api/profiles/${encodeURIComponent(name)}`),
    onSuccess: () => {
      if (shownProfile === name) return showProfile("default");
      showToast(t.profiles.removed(name));
      onClose();
      return queries.invalidateQueries();
    },
  });
  return (
    <Dialog title={t.profiles.removeTitle(name)} onClose={onClose}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === name) remove.mutate();
        }}
      >
        <p>{t.profiles.removeText}</p>
        <Field label={t.profiles.removeType(name)}>
          {(field) => (
            <input
              {...field}
              className="input"
              autoComplete="off"
              spellCheck={false}
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          )}
        </Field>
        {remove.isError && <Failure error={remove.error} />}
        <div className="flex justify-end gap-2">
          <button type="button" className="button button-ghost" onClick={onClose}>
            {t.common.cancel}
          </button>
          <button
            type="submit"
            className="button button-danger"
            disabled={remove.isPending || typed !== name}
          >
            {t.profiles.remove}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
