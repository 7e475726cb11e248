// Whether what is shown is too old to be said (product.md D4): a page that gets no answers must not go on saying "ready".
import { useEffect, useState } from "react";

/** `updatedAt`: milliseconds since 1970 of the last answer. */
export function useStale(updatedAt: number, limitMs: number): boolean {
  const [isStale, setStale] = useState(false);
  useEffect(() => {
    setStale(false);
    const timer = setTimeout(() => setStale(true), Math.max(0, updatedAt + limitMs - Date.now()));
    return () => clearTimeout(timer);
  }, [updatedAt, limitMs]);
  return isStale;
}
