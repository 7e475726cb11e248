// Another name for a profile. A running gateway refuses it, and says so.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { profile as shownProfile, client, queries } from "../../app/services.ts";
import { showProfile } from "../../app/profile-switch.tsx";
import { useWords } from "../../i18n/i18n.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Failure } from "../../parts/states.tsx";
import { showToast } from "../../parts/toasts.tsx";

export function RenameProfile(props: { readonly name: string; readonly onClose: () => void }) {
  const { t } = useWords();
  const { name, onClose } = props;
  const [next, setNext] = useState(name);
  const rename = useMutation({
    mutationFn: () =>
      client.request("PATCH", `/api/profiles/${encodeURIComponent(name)}`, {
        json: { new_name: next.trim() },
      }),
    onSuccess: () => {
      if (shownProfile === name) return showProfile(next.trim());
      showToast(t.profiles.renamed(next.trim()));
      onClose();
      return queries.invalidateQueries();
    },
  });
  return (
    <Dialog title={`${t.profiles.rename}: ${name}`} onClose={onClose}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          rename.mutate();
        }}
      >
        <Field label={t.profiles.newName} hint={t.profiles.nameHint}>
          {(field) => (
            <input
              {...field}
              className="input"
              autoComplete="off"
              spellCheck={false}
              maxLength={64}
              value={next}
              onChange={(event) => setNext(event.target.value)}
            />
          )}
        </Field>
        {rename.isError && <Failure error={rename.error} />}
        <div className="flex justify-end">
          <button
            type="submit"
            className="button button-primary"
            disabled={rename.isPending || next.trim() === "" || next.trim() === name}
          >
            {t.profiles.rename}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
