// Each service in one line: state in words, icon and colour; the reason on hover and focus.
import { useQuery } from "@tanstack/react-query";
import { Tooltip } from "radix-ui";
import { STATUS_MS, statusQuery } from "../api/queries.ts";
import { useWords } from "../i18n/i18n.tsx";
import { Icon } from "../parts/icons.tsx";
import { useStale } from "../parts/stale.ts";
import { serviceLines, STATE_LOOK, useServiceName, type ServiceLine } from "./service-states.ts";

function ServiceItem({ service }: { readonly service: ServiceLine }) {
  const { t, format } = useWords();
  const look = STATE_LOOK[service.state];
  const name = useServiceName()(service);
  return (
    <li>
      <Tooltip.Root>
        <Tooltip.Trigger
          type="button"
          className="flex w-full min-h-7 items-center gap-2 rounded-(--radius) px-2.5 text-start text-sm pointer-coarse:min-h-11"
          data-testid={`service-${service.name}`}
        >
          <span className={look.tone}>
            <Icon name={look.icon} size={16} />
          </span>
          <span className="truncate">{name}</span>
          <span className={`ms-auto text-xs ${look.tone}`}>{t.status.states[service.state]}</span>
        </Tooltip.Trigger>
        <Tooltip.Portal>
          <Tooltip.Content side="right" sideOffset={6} className="menu max-w-72 px-3 py-2 text-sm">
            <p>{service.reason ?? t.status.explain[service.state]}</p>
            {service.since !== null && (
              <p className="mt-1 text-xs text-muted-foreground">
                {t.status.since}: {format.dateTime(service.since)}
              </p>
            )}
            {service.pid !== null && (
              <p className="text-xs text-muted-foreground">
                {t.status.pid}: {service.pid}
              </p>
            )}
            {service.restarts > 0 && (
              <p className="text-xs text-muted-foreground">
                {t.status.restarts}: {format.number(service.restarts)}
              </p>
            )}
          </Tooltip.Content>
        </Tooltip.Portal>
      </Tooltip.Root>
    </li>
  );
}

/** Three questions without an answer. */
const STALE_MS = 3 * STATUS_MS;

const forgotten = (service: ServiceLine): ServiceLine => ({
  ...service,
  state: "unknown",
  reason: null,
  pid: null,
  since: null,
});

export function ServiceStrip() {
  const { t } = useWords();
  const status = useQuery(statusQuery);
  const isStale = useStale(status.dataUpdatedAt, STALE_MS);
  if (!status.data) return null;
  const lines = serviceLines(status.data);
  return (
    <Tooltip.Provider delayDuration={200}>
      <ul aria-label={t.status.title}>
        {lines.map((service) => (
          <ServiceItem key={service.name} service={isStale ? forgotten(service) : service} />
        ))}
      </ul>
      <p className="px-2.5 text-xs text-muted-foreground">
        {t.status.version(status.data.version)}
      </p>
    </Tooltip.Provider>
  );
}
