// Every supervised service: its true state, why, since when, and what can be done about it (dashboard.md §12.3, D4).
import { Link } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { useId, type ReactNode } from "react";
import type { ServiceRow } from "#protocol/http-services.ts";
import { servicesQuery } from "../../api/service-queries.ts";
import { STATE_LOOK, useServiceName } from "../../app/service-states.ts";
import { useWords } from "../../i18n/i18n.tsx";
import { Icon } from "../../parts/icons.tsx";
import { Page } from "../../parts/page.tsx";
import { useStale } from "../../parts/stale.ts";
import { Empty, QueryView } from "../../parts/states.tsx";
import { ServiceActions } from "./service-actions.tsx";
import { ServiceLog } from "./service-log.tsx";

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted-foreground">{name}</dt>
      <dd className="break-words tabular-nums">{children}</dd>
    </div>
  );
}

function useLastExit(service: ServiceRow): string | null {
  const { t, format } = useWords();
  const exit = service.last_exit;
  if (exit === null) return null;
  const when = format.dateTime(exit.at);
  return exit.signal === null
    ? t.services.exitCode(exit.code ?? 0, when)
    : t.services.exitSignal(exit.signal, when);
}

function Facts({ service }: { readonly service: ServiceRow }) {
  const { t, format } = useWords();
  const lastExit = useLastExit(service);
  const { desired, restarts_60s: recent } = service;
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-2 text-sm sm:grid-cols-3">
      <Fact name={t.services.desired}>
        {desired === null ? t.services.desiredUnknown : t.services.desiredStates[desired]}
      </Fact>
      {service.since !== null && (
        <Fact name={t.status.since}>{format.dateTime(service.since)}</Fact>
      )}
      {service.pid !== null && <Fact name={t.status.pid}>{service.pid}</Fact>}
      <Fact name={t.status.restarts}>
        {format.number(service.restarts)}
        {recent > 0 && ` (${t.services.lastMinute(recent)})`}
      </Fact>
      {lastExit !== null && <Fact name={t.services.lastExit}>{lastExit}</Fact>}
      {service.next_start_at !== null && (
        <Fact name={t.services.nextStart}>{format.dateTime(service.next_start_at)}</Fact>
      )}
    </dl>
  );
}

/** The text of a refusal with its ways out, as the process itself wrote it. */
function Refusal({ error }: { readonly error: NonNullable<ServiceRow["error"]> }) {
  const { t } = useWords();
  return (
    <div className="grid gap-2 rounded-(--radius) border border-destructive p-3 text-sm">
      <p className="whitespace-pre-wrap" data-testid="service-error">
        {error.message} <code className="text-xs text-muted-foreground">{error.code}</code>
      </p>
      {error.ways_out.length > 0 && (
        <>
          <p className="font-semibold">{t.services.waysOut}</p>
          <ul className="list-disc ps-5">
            {error.ways_out.map((way) => (
              <li key={way}>{way}</li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

function ServiceCard({ service }: { readonly service: ServiceRow }) {
  const { t } = useWords();
  const heading = useId();
  const name = useServiceName()(service);
  const look = STATE_LOOK[service.state];
  const inTrouble = service.state === "crash-looping" || service.state === "refused";
  return (
    <section
      aria-labelledby={heading}
      data-testid={`card-${service.name}`}
      data-state={service.state}
      className="card grid gap-3 p-4"
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 id={heading} className="min-w-0 text-base font-semibold break-words">
          {name}
        </h2>
        <span className={`flex items-center gap-1.5 font-semibold ${look.tone}`}>
          <Icon name={look.icon} size={16} />
          {t.status.states[service.state]}
        </span>
        <code className="ms-auto text-xs text-muted-foreground">{service.name}</code>
      </div>
      <p className="text-sm text-muted-foreground">{t.status.explain[service.state]}</p>
      {service.reason !== null && service.error === null && (
        <p className="text-sm whitespace-pre-wrap">{service.reason}</p>
      )}
      {service.error !== null && <Refusal error={service.error} />}
      <Facts service={service} />
      <ServiceActions service={service} name={name} />
      {service.log !== null && <ServiceLog slot={service.name} name={name} open={inTrouble} />}
    </section>
  );
}

/** Three questions without an answer. */
const STALE_MS = 3000;

/** What was said is no longer known to be so; since when, is told instead of a reason. */
function forgotten(service: ServiceRow, reason: string): ServiceRow {
  return { ...service, state: "unknown", reason, error: null, pid: null };
}

export function ServicesPage() {
  const { t, format } = useWords();
  const services = useQuery(servicesQuery);
  const isStale = useStale(services.dataUpdatedAt, STALE_MS);
  const lastAnswer = format.time(new Date(services.dataUpdatedAt).toISOString());
  return (
    <Page
      title={t.services.title}
      actions={
        <Link to="/logs" className="button button-plain">
          <Icon name="logs" size={16} />
          {t.services.allLogs}
        </Link>
      }
    >
      <QueryView
        query={services}
        isEmpty={(data) => data.services.length === 0}
        empty={
          <Empty icon="server" title={t.services.empty}>
            <p>{t.services.emptyText}</p>
          </Empty>
        }
      >
        {(data) => (
          <>
            <p className="text-muted-foreground">{t.services.lead(data.manager.label)}</p>
            {data.services.map((service) => (
              <ServiceCard
                key={service.name}
                service={isStale ? forgotten(service, t.services.stale(lastAnswer)) : service}
              />
            ))}
          </>
        )}
      </QueryView>
    </Page>
  );
}
