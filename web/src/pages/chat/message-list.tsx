// The windowed conversation: stays at the end while it grows, loads older pages at the top.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import { useWords } from "../../i18n/i18n.tsx";
import { Icon } from "../../parts/icons.tsx";
import type { Item } from "./items.ts";
import type { RowActions } from "./row-actions.ts";
import { Row } from "./rows.tsx";
import { useStickToEnd } from "./stick-to-end.ts";

const NEAR_TOP_PX = 600;

/** First guess of a row's height; the real one is measured when it is drawn. */
const GUESS: Readonly<Record<Item["kind"], number>> = {
  user: 60,
  assistant: 140,
  tool: 60,
  summary: 50,
  notice: 40,
  ending: 80,
  working: 40,
};

export function MessageList(props: {
  readonly items: readonly Item[];
  readonly actions: RowActions;
  readonly complete: boolean;
  readonly loadingOlder: boolean;
  readonly onOlder: () => void;
}) {
  const { t } = useWords();
  const { items, onOlder, complete, loadingOlder } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => GUESS[items[index]?.kind ?? "assistant"],
    getItemKey: (index) => items[index]?.key ?? index,
    anchorTo: "end",
    overscan: 8,
    gap: 14,
    paddingStart: 20,
    paddingEnd: 20,
  });

  const { atEnd, onScroll, goToEnd } = useStickToEnd(scroller, virtual.getTotalSize());

  // A text of our own is always followed, wherever the reader was.
  const lastOwn = items.findLast((item) => item.kind === "user")?.key;
  useEffect(goToEnd, [goToEnd, lastOwn]);

  function loadWhenNearTop(): void {
    const top = scroller.current?.scrollTop ?? NEAR_TOP_PX;
    if (top < NEAR_TOP_PX && !complete && !loadingOlder) onOlder();
  }

  function scrolled(): void {
    onScroll();
    loadWhenNearTop();
  }

  // A reader who stays at the very top makes no scroll event: the next page comes by itself.
  const first = items[0]?.key;
  useEffect(() => {
    if (first !== undefined) loadWhenNearTop();
    // Once for each page that arrived: one that failed is asked for again by scrolling.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [first]);

  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        onScroll={scrolled}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={t.chat.conversation}
        data-testid="messages"
        className="h-full overflow-y-auto"
        style={{ overflowAnchor: "none" }}
      >
        {loadingOlder && (
          <p
            role="status"
            className="absolute inset-x-0 top-1 z-10 text-center text-xs text-muted-foreground"
          >
            {t.chat.older}
          </p>
        )}
        <div className="relative w-full" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((row) => {
            const item = items[row.index];
            return (
              item && (
                <div
                  key={row.key}
                  data-index={row.index}
                  ref={virtual.measureElement}
                  className="absolute inset-x-0 top-0"
                  style={{ transform: `translateY(${row.start}px)` }}
                >
                  <div className="mx-auto max-w-3xl px-4">
                    <Row item={item} actions={props.actions} />
                  </div>
                </div>
              )
            );
          })}
        </div>
      </div>
      {!atEnd && (
        <button
          type="button"
          className="icon-button absolute end-4 bottom-3 border bg-popover shadow-lg"
          aria-label={t.chat.jump}
          title={t.chat.jump}
          onClick={goToEnd}
        >
          <Icon name="down" />
        </button>
      )}
    </div>
  );
}
