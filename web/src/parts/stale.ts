// Whether what is shown is too old to be said (product.md D4): a page that gets no answers must not go on saying "ready".
import { useEffect, useState } from "react";

/** `updatedAt`: milliseconds since 1970 of the last answer; 0 before the first one, which is not stale. */
export function useStale(updatedAt: number, limitMs: number): boolean {
  // The answer that became too old: a newer one is fresh in the very render that shows it.
  const [old, setOld] = useState(0);
  useEffect(() => {
    if (updatedAt === 0) return undefined;
    const left = Math.max(0, updatedAt + limitMs - Date.now());
    const timer = setTimeout(() => setOld(updatedAt), left);
    return () => clearTimeout(timer);
  }, [updatedAt, limitMs]);
  return updatedAt !== 0 && old === updatedAt;
}
