// What a route shows when it fails or does not exist.
import { Link, useRouter, type ErrorComponentProps } from "@tanstack/react-router";
import { ApiError } from "../api/error.ts";
import { useWords } from "../i18n/i18n.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, Failure } from "../parts/states.tsx";

export function RouteFailure({ error, reset }: ErrorComponentProps) {
  const { t } = useWords();
  const router = useRouter();
  const again = () => {
    reset();
    void router.invalidate();
  };
  return (
    <Page title={t.errors.page}>
      {error instanceof ApiError ? (
        <Failure error={error} onRetry={again} />
      ) : (
        <div role="alert" className="card grid justify-items-start gap-3 p-4">
          <p>{t.errors.pageText}</p>
          <pre className="log-text max-w-full text-muted-foreground">
            {error instanceof Error ? error.message : String(error)}
          </pre>
          <div className="flex flex-wrap gap-2">
            <button type="button" className="button button-primary" onClick={again}>
              {t.common.retry}
            </button>
            <button
              type="button"
              className="button button-plain"
              onClick={() => window.location.reload()}
            >
              {t.link.reload}
            </button>
          </div>
        </div>
      )}
    </Page>
  );
}

export function NotFound() {
  const { t } = useWords();
  return (
    <Page title={t.app.notFound}>
      <Empty icon="question" title={t.app.notFound}>
        <p>{t.app.notFoundText}</p>
        <Link to="/chat" className="button button-primary mt-2">
          {t.app.toChat}
        </Link>
      </Empty>
    </Page>
  );
}
