// Keeps a growing list at its end for as long as the reader is there.
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react";

const NEAR_END_PX = 80;
/** Rounding of fractional pixels. */
const AT_END_PX = 2;

export interface Sticking {
  readonly atEnd: boolean;
  readonly onScroll: () => void;
  readonly goToEnd: () => void;
}

/** `size` is the height of the content in px: whenever it or the box changes, a reader at the end stays there. */
export function useStickToEnd(box: RefObject<HTMLElement | null>, size: number): Sticking {
  const sticks = useRef(true);
  const lastTop = useRef(0);
  const [atEnd, setAtEnd] = useState(true);

  const goToEnd = useCallback(() => {
    sticks.current = true;
    setAtEnd(true);
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [box]);

  const hold = useCallback(() => {
    if (sticks.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [box]);

  useLayoutEffect(hold, [hold, size]);

  useEffect(() => {
    if (box.current === null) return;
    const observer = new ResizeObserver(hold);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [box, hold]);

  const onScroll = useCallback(() => {
    const node = box.current;
    if (node === null) return;
    const left = node.scrollHeight - node.scrollTop - node.clientHeight;
    // Any movement upwards leaves the end, however slow; growth below the view is no movement.
    if (node.scrollTop < lastTop.current) sticks.current = left <= AT_END_PX;
    else if (left <= NEAR_END_PX) sticks.current = true;
    lastTop.current = node.scrollTop;
    setAtEnd(left <= NEAR_END_PX || sticks.current);
  }, [box]);

  return { atEnd, onScroll, goToEnd };
}
