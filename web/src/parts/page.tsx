// Frame of a page: one h1, its actions, a document title, a scrolling body.
import { useEffect, type ReactNode } from "react";

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === "" ? "Hermes" : `${title} · Hermes`;
  }, [title]);
}

export function Page(props: {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly wide?: boolean;
  readonly children: ReactNode;
}) {
  useTitle(props.title);
  return (
    <div className="h-full overflow-y-auto" data-page>
      <div
        className={`mx-auto grid gap-5 px-4 py-5 sm:px-6 ${props.wide ? "max-w-6xl" : "max-w-4xl"}`}
      >
        <div className="flex flex-wrap items-center justify-between gap-3">
          <h1 className="text-xl font-bold tracking-tight">{props.title}</h1>
          {props.actions && <div className="flex flex-wrap gap-2">{props.actions}</div>}
        </div>
        {props.children}
      </div>
    </div>
  );
}
