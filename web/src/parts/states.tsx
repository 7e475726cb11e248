// The four states of every list: loading (after 150 ms), empty, error, data (dashboard.md §12.4).
import type { UseQueryResult } from "@tanstack/react-query";
import { useEffect, useState, type ReactNode } from "react";
import { ApiError } from "../api/error.ts";
import { client } from "../app/services.ts";
import { useWords } from "../i18n/i18n.tsx";
import { Icon, type IconName } from "./icons.tsx";

const SKELETON_AFTER_MS = 150;

export function Skeleton({ rows = 4 }: { readonly rows?: number }) {
  const { t } = useWords();
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SKELETON_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!shown) return null;
  return (
    <div role="status" className="grid gap-3">
      <span className="sr-only">{t.common.loading}</span>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className="skeleton h-12" />
      ))}
    </div>
  );
}

export function Empty(props: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ReactNode;
}) {
  return (
    <div className="grid justify-items-center gap-2 px-4 py-12 text-center text-muted-foreground">
      <Icon name={props.icon} size={32} />
      <p className="text-base font-semibold text-foreground">{props.title}</p>
      {props.children}
    </div>
  );
}

export function Failure(props: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { t } = useWords();
  const { error } = props;
  const code = error instanceof ApiError ? error.code : "internal";
  const detail = error instanceof ApiError ? error.detail : String(error);
  const requestId = error instanceof ApiError ? error.requestId : null;
  const reauth = error instanceof ApiError ? client.reauthUrl(error) : null;
  return (
    <div role="alert" className="card flex gap-3 border-destructive p-4">
      <span className="text-destructive">
        <Icon name="error" size={22} />
      </span>
      <div className="grid min-w-0 gap-1">
        <p className="font-semibold">{t.errors.codes[code] ?? t.errors.title}</p>
        <p className="text-muted-foreground">{detail}</p>
        <p className="text-xs text-muted-foreground">
          <code>{code}</code>
          {requestId !== null && ` · ${t.common.requestId(requestId)}`}
        </p>
        {reauth !== null && (
          <div className="mt-1">
            <a className="button button-plain" href={reauth}>
              {t.account.signInAgain}
            </a>
          </div>
        )}
        {props.onRetry && (
          <div className="mt-1">
            <button type="button" className="button button-plain" onClick={props.onRetry}>
              <Icon name="retry" />
              {t.common.retry}
            </button>
          </div>
        )}
      </div>
    </div>
  );
}

/** Draws a query's state; `children` gets the data. A failed refetch keeps what was shown. */
export function QueryView<T>(props: {
  readonly query: UseQueryResult<T>;
  readonly rows?: number;
  readonly isEmpty?: (data: T) => boolean;
  readonly empty?: ReactNode;
  readonly children: (data: T) => ReactNode;
}) {
  const { query } = props;
  if (query.data !== undefined) {
    if (props.isEmpty?.(query.data) === true) return props.empty;
    return props.children(query.data);
  }
  if (query.isError) {
    return <Failure error={query.error} onRetry={() => void query.refetch()} />;
  }
  return <Skeleton rows={props.rows ?? 4} />;
}
