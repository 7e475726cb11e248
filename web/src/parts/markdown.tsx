// Streaming Markdown: the engine is a lazy chunk; until it is there, and if it fails, the plain text shows.
import { memo, useEffect, useMemo, useState } from "react";
import type { blocksOf, toHtml } from "../pages/chat/markdown-engine.ts";
import { CopyButton } from "./copy-button.tsx";
import type { highlight } from "./highlight.ts";

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
  // HTML enters the page here, made by our renderer and sanitised, and below, where highlight.js has escaped it.
  return <div className="prose" dangerouslySetInnerHTML={{ __html: html }} />;
});

let highlighter: Promise<typeof highlight> | null = null;

function loadHighlighter(): Promise<typeof highlight> {
  highlighter ??= import("./highlight.ts").then((loaded) => loaded.highlight);
  return highlighter;
}

/** Coloured HTML of a piece of code, once there is any; null shows it plain. */
function useColours(code: string, language: string): string | null {
  const [colour, setColour] = useState<{ readonly run: typeof highlight } | null>(null);
  const isNamed = language !== "";
  useEffect(() => {
    if (!isNamed) return;
    let current = true;
    loadHighlighter().then(
      (run) => {
        if (current) setColour({ run });
      },
      () => {
        highlighter = null;
      },
    );
    return () => {
      current = false;
    };
  }, [isNamed]);
  return useMemo(
    () => (colour === null || !isNamed ? null : colour.run(code, language)),
    [colour, isNamed, code, language],
  );
}

const CodeBlock = memo(function CodeBlock(props: {
  readonly language: string;
  readonly code: string;
}) {
  const html = useColours(props.code, props.language);
  return (
    <div className="card overflow-hidden bg-muted">
      <div className="flex items-center justify-between border-b ps-3 pe-1 text-xs text-muted-foreground">
        <span>{props.language === "" ? "text" : props.language}</span>
        <CopyButton text={props.code} />
      </div>
      <pre className="log-text overflow-x-auto p-3 whitespace-pre" tabIndex={0}>
        {html === null ? (
          <code>{props.code}</code>
        ) : (
          <code data-highlighted dangerouslySetInnerHTML={{ __html: html }} />
        )}
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
