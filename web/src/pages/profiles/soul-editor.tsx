// SOUL.md of one profile: edited as text, the change is shown before it is saved (dashboard.md §12.3).
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { soulQuery, type SoulBody } from "../../api/service-queries.ts";
import { client, queries } from "../../app/services.ts";
import { useWords } from "../../i18n/i18n.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Failure, QueryView } from "../../parts/states.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { lineChange, type LineChange } from "./line-change.ts";

const MARK = { before: " ", removed: "−", added: "+", after: " " } as const;
const TONE = {
  before: "text-muted-foreground",
  removed: "text-destructive",
  added: "text-success",
  after: "text-muted-foreground",
} as const;

function Change({ change }: { readonly change: LineChange }) {
  const { t } = useWords();
  return (
    <div className="grid gap-2" data-testid="soul-change">
      <p className="text-sm">
        {t.profiles.added(change.added.length)}, {t.profiles.dropped(change.removed.length)}
      </p>
      <pre
        className="log-text max-h-[50dvh] overflow-auto rounded-(--radius) bg-background p-3"
        tabIndex={0}
      >
        {(["before", "removed", "added", "after"] as const).map((part) => (
          <span key={part} className={`block ${TONE[part]}`}>
            {change[part].map((line) => `${MARK[part]} ${line}`).join("\n")}
          </span>
        ))}
      </pre>
    </div>
  );
}

function Editor(props: {
  readonly name: string;
  readonly soul: SoulBody;
  readonly onClose: () => void;
}) {
  const { t } = useWords();
  const { name, soul, onClose } = props;
  const [text, setText] = useState(soul.content);
  const [reviewing, setReviewing] = useState(false);
  const change = lineChange(soul.content, text);
  const save = useMutation({
    mutationFn: () =>
      client.request("PUT", `/api/profiles/${encodeURIComponent(name)}/soul`, {
        json: { content: text },
      }),
    onSuccess: () => {
      showToast(t.profiles.soulSaved);
      onClose();
      return queries.invalidateQueries({ queryKey: ["profiles"] });
    },
  });
  return (
    <>
      {reviewing && change !== null ? (
        <Change change={change} />
      ) : (
        <Field label={t.profiles.soul} hint={t.profiles.soulHint}>
          {(field) => (
            <textarea
              {...field}
              className="input log-text min-h-[45dvh]"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
      )}
      {save.isError && <Failure error={save.error} />}
      <div className="flex flex-wrap justify-end gap-2">
        {change === null && (
          <p className="me-auto text-sm text-muted-foreground">{t.profiles.soulSame}</p>
        )}
        <button
          type="button"
          className="button button-plain"
          disabled={change === null}
          onClick={() => setReviewing(!reviewing)}
        >
          {reviewing ? t.profiles.back : t.profiles.soulReview}
        </button>
        {reviewing && (
          <button
            type="button"
            className="button button-primary"
            disabled={change === null || save.isPending}
            onClick={() => save.mutate()}
          >
            {t.common.save}
          </button>
        )}
      </div>
    </>
  );
}

export function SoulEditor(props: { readonly name: string; readonly onClose: () => void }) {
  const soul = useQuery(soulQuery(props.name));
  return (
    <Dialog title={props.name} onClose={props.onClose}>
      <QueryView query={soul}>{(data) => <Editor {...props} soul={data} />}</QueryView>
    </Dialog>
  );
}
