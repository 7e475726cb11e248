// Start, stop and restart of one service, with the progress of the job (dashboard.md §11.4).
import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { ServiceAction, ServiceActionBody, ServiceRow } from "#protocol/http-services.ts";
import { ApiError } from "../../api/error.ts";
import { serviceJobQuery } from "../../api/service-queries.ts";
import { announce } from "../../app/announce.ts";
import { client, queries } from "../../app/services.ts";
import { useWords } from "../../i18n/i18n.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/states.tsx";
import { Icon, type IconName } from "../../parts/icons.tsx";

const ICONS: Readonly<Record<ServiceAction, IconName>> = {
  start: "play",
  stop: "stop",
  restart: "retry",
};

/** The job that was begun here, until it ended; what it said when it failed. */
function useJob() {
  const [begun, setBegun] = useState<ServiceActionBody | null>(null);
  const job = useQuery({ ...serviceJobQuery(begun?.job_id ?? ""), enabled: begun !== null });
  // The dashboard that restarted itself does not know the jobs of its last life.
  const isForgotten = job.error instanceof ApiError && job.error.status === 404;
  const status = isForgotten ? "done" : (job.data?.status ?? "running");
  useEffect(() => {
    if (begun === null || status === "running") return;
    void queries.invalidateQueries({ queryKey: ["services", "list"] });
    void queries.invalidateQueries({ queryKey: ["status"] });
    if (status === "done") setBegun(null);
  }, [begun, status]);
  return {
    begun,
    begin: setBegun,
    isRunning: begun !== null && status === "running",
    detail: begun !== null && status === "failed" ? (job.data?.detail ?? "") : null,
  };
}

/** Stopping what serves this page is asked for twice. */
function SelfDialog(props: {
  readonly action: ServiceAction;
  readonly onClose: () => void;
  readonly onGo: () => void;
}) {
  const { t } = useWords();
  const { action } = props;
  return (
    <Dialog title={t.services.selfTitle} onClose={props.onClose}>
      <p>{action === "stop" ? t.services.selfStop : t.services.selfRestart}</p>
      <div className="flex justify-end gap-2">
        <button type="button" className="button button-ghost" onClick={props.onClose}>
          {t.common.cancel}
        </button>
        <button type="button" className="button button-danger" onClick={props.onGo}>
          {t.services[action]}
        </button>
      </div>
    </Dialog>
  );
}

export function ServiceActions(props: { readonly service: ServiceRow; readonly name: string }) {
  const { t } = useWords();
  const { service, name } = props;
  const job = useJob();
  const [asked, setAsked] = useState<ServiceAction | null>(null);
  const act = useMutation({
    mutationFn: (action: ServiceAction) =>
      client.request<ServiceActionBody>(
        "POST",
        `/api/services/${encodeURIComponent(service.name)}/${action}`,
        { json: {} },
      ),
    onSuccess: (body) => {
      job.begin(body);
      announce(`${name}: ${t.services.jobs[body.action]}`);
    },
  });

  function choose(action: ServiceAction): void {
    if (service.kind === "dashboard" && action !== "start") setAsked(action);
    else act.mutate(action);
  }

  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center gap-2">
        {service.allowed_actions.length === 0 && (
          <p className="text-sm text-muted-foreground">{t.services.nothingAllowed}</p>
        )}
        {service.allowed_actions.map((action) => (
          <button
            key={action}
            type="button"
            className={`button ${action === "stop" ? "button-danger" : "button-plain"}`}
            aria-label={t.services.actionOf(t.services[action], name)}
            disabled={act.isPending || job.isRunning}
            onClick={() => choose(action)}
          >
            <Icon name={ICONS[action]} size={16} />
            {t.services[action]}
          </button>
        ))}
        {job.isRunning && job.begun !== null && (
          <p role="status" className="flex items-center gap-2 text-sm" data-testid="job">
            <span className="dot-pulse text-warning">
              <Icon name="dot" size={14} />
            </span>
            {t.services.jobs[job.begun.action]}
          </p>
        )}
      </div>
      {act.isError && <Failure error={act.error} />}
      {job.detail !== null && (
        <div role="alert" className="card border-destructive p-3 text-sm" data-testid="job-failed">
          <p className="font-semibold">{t.services.jobFailed(name)}</p>
          <p className="whitespace-pre-wrap text-muted-foreground">{job.detail}</p>
        </div>
      )}
      {asked !== null && (
        <SelfDialog
          action={asked}
          onClose={() => setAsked(null)}
          onGo={() => {
            act.mutate(asked);
            setAsked(null);
          }}
        />
      )}
    </div>
  );
}
