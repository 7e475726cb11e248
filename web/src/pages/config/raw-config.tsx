// config.yaml as text: saved only when the server accepts it; an error points at its line.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { RawConfigBody } from "#protocol/http-config.ts";
import type { Answer } from "../../api/client.ts";
import { ApiError } from "../../api/error.ts";
import { saveText } from "../../api/download.ts";
import { rawConfigQuery } from "../../api/queries.ts";
import { client, queries } from "../../app/services.ts";
import { useWords } from "../../i18n/i18n.tsx";
import { Field } from "../../parts/field.tsx";
import { Icon } from "../../parts/icons.tsx";
import { Failure, QueryView } from "../../parts/states.tsx";
import { showToast } from "../../parts/toasts.tsx";

function lineOf(error: unknown): number | null {
  const line = error instanceof ApiError ? error.body["line"] : null;
  return typeof line === "number" ? line : null;
}

/** Puts the cursor on a line (counted from 1) and scrolls there. */
function goToLine(area: HTMLTextAreaElement, line: number): void {
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  area.scrollTop = Math.max(0, (line - 4) * (area.scrollHeight / lines.length));
}

function Editor({ stored }: { readonly stored: Answer<RawConfigBody> }) {
  const { t } = useWords();
  const [text, setText] = useState(stored.data.yaml);
  const area = useRef<HTMLTextAreaElement>(null);
  const save = useMutation({
    mutationFn: () =>
      client.request("PUT", "/api/config/raw", {
        json: { yaml_text: text },
        headers: stored.etag === null ? {} : { "If-Match": stored.etag },
      }),
    onSuccess: async () => {
      for (const key of ["config", "models", "setup"]) {
        await queries.invalidateQueries({ queryKey: [key] });
      }
      showToast(t.common.saved);
    },
    onError: (error) => {
      const line = lineOf(error);
      if (line !== null && area.current) goToLine(area.current, line);
    },
  });
  const line = lineOf(save.error);
  const detail = save.error instanceof ApiError ? save.error.detail : null;
  const message = detail !== null && line !== null ? `${t.config.line(line)}: ${detail}` : null;
  return (
    <div className="grid gap-3">
      {save.isError && line === null && <Failure error={save.error} />}
      <Field label={t.config.rawLabel} error={message}>
        {(field) => (
          <textarea
            {...field}
            ref={area}
            className="input log-text min-h-[50dvh]"
            style={{ whiteSpace: "pre", overflowX: "auto" }}
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <div className="flex flex-wrap justify-end gap-2">
        <button
          type="button"
          className="button button-plain"
          onClick={() => saveText(text, "config.yaml")}
        >
          <Icon name="export" size={16} />
          {t.config.export}
        </button>
        <button
          type="button"
          className="button button-plain"
          disabled={text === stored.data.yaml}
          onClick={() => setText(stored.data.yaml)}
        >
          {t.config.discard}
        </button>
        <button
          type="button"
          className="button button-primary"
          disabled={text === stored.data.yaml || save.isPending}
          onClick={() => save.mutate()}
        >
          {t.common.save}
        </button>
      </div>
    </div>
  );
}

export function RawConfig() {
  const raw = useQuery(rawConfigQuery);
  return (
    <QueryView query={raw}>
      {(stored) => <Editor key={stored.data.yaml} stored={stored} />}
    </QueryView>
  );
}
