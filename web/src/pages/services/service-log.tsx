// The last lines of a service's log: folded, and asked for only while it is open.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { serviceLogQuery } from "../../api/service-queries.ts";
import { useWords } from "../../i18n/i18n.tsx";
import { QueryView } from "../../parts/states.tsx";

function Lines({ slot, name }: { readonly slot: string; readonly name: string }) {
  const { t } = useWords();
  const log = useQuery(serviceLogQuery(slot));
  return (
    <QueryView query={log} rows={3}>
      {({ lines }) =>
        lines.length === 0 ? (
          <p className="pt-2 text-sm text-muted-foreground">{t.services.logEmpty}</p>
        ) : (
          <pre
            className="log-text mt-2 max-h-72 overflow-auto rounded-(--radius) bg-background p-3"
            tabIndex={0}
            role="region"
            aria-label={t.services.logOf(name)}
          >
            {lines.join("\n")}
          </pre>
        )
      }
    </QueryView>
  );
}

export function ServiceLog(props: {
  readonly slot: string;
  readonly name: string;
  readonly open: boolean;
}) {
  const { t } = useWords();
  const [open, setOpen] = useState(props.open);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="min-h-6 cursor-pointer text-sm">{t.services.log}</summary>
      {open && <Lines slot={props.slot} name={props.name} />}
    </details>
  );
}
