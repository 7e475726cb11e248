// Streaming Markdown: the engine is a lazy chunk; until it is there, and if it fails, the plain text shows.
import { memo, useEffect, useMemo, useState } from "react";
import type { blocksOf, toHtml } from "../pages/chat/markdown-engine.ts";
import { CopyButton } from "./copy-button.tsx";

interface Engine {
  readonly blocksOf: typeof blocksOf;
  readonly toHtml: typeof toHtml;
}

let engine: Engine | null = null;
let loading: Promise<Engine> | null = null;

function loadEngine(): Promise<Engine> {
  loading ??= import("../pages/chat/markdown-engine.ts").then((loaded) => {
    engine = loaded;
    return loaded;
  });
  return loading;
}

function useEngine(): Engine | null {
  const [ready, setReady] = useState(engine);
  useEffect(() => {
    if (ready !== null) return;
    let current = true;
    loadEngine().then(
      (loaded) => {
        if (current) setReady(loaded);
      },
      () => {
        loading = null;
      },
    );
    return () => {
      current = false;
    };
  }, [ready]);
  return ready;
}

const HtmlBlock = memo(function HtmlBlock(props: {
  readonly engine: Engine;
  readonly raw: string;
}) {
  const html = useMemo(() => props.engine.toHtml(props.raw), [props.engine, props.raw]);
  // The one place where HTML enters the page: made by our renderer and sanitised.
  return <div className="prose" dangerouslySetInnerHTML={{ __html: html }} />;
});

const CodeBlock = memo(function CodeBlock(props: {
  readonly language: string;
  readonly code: string;
}) {
  return (
    <div className="card overflow-hidden bg-muted">
      <div className="flex items-center justify-between border-b ps-3 pe-1 text-xs text-muted-foreground">
        <span>{props.language === "" ? "text" : props.language}</span>
        <CopyButton text={props.code} />
      </div>
      <pre className="log-text overflow-x-auto p-3 whitespace-pre" tabIndex={0}>
        <code>{props.code}</code>
      </pre>
    </div>
  );
});

export function Markdown({ text }: { readonly text: string }) {
  const loaded = useEngine();
  const blocks = useMemo(() => loaded?.blocksOf(text) ?? null, [loaded, text]);
  if (loaded === null || blocks === null) return <p className="whitespace-pre-wrap">{text}</p>;
  return (
    <div className="grid min-w-0 gap-3">
      {blocks.map((block, index) =>
        block.kind === "code" ? (
          <CodeBlock key={index} language={block.language} code={block.code} />
        ) : (
          <HtmlBlock key={index} engine={loaded} raw={block.raw} />
        ),
      )}
    </div>
  );
}
