// Many questions, few at a time.

/**
 * Starts `run` for each item in order, at most `most` at once. The promises stand in the order of the items, so that a
 * caller can show the first results while the last ones are still out. A rejection holds nobody up.
 */
export function runBounded<Item, Result>(
  items: readonly Item[],
  most: number,
  run: (item: Item) => Promise<Result>,
): readonly Promise<Result>[] {
  const places = items.map((item) => ({ item, ...Promise.withResolvers<Result>() }));
  const waiting = places.values();
  const work = async (): Promise<void> => {
    // One shared iterator: each worker takes the next place that nobody has.
    for (const { item, resolve } of waiting) {
      const result = run(item);
      resolve(result);
      await result.catch(() => undefined);
    }
  };
  for (let worker = 0; worker < Math.min(most, items.length); worker++) void work();
  // Whoever reads in order may not have come to a rejected one yet: that is no unhandled rejection.
  for (const { promise } of places) promise.catch(() => undefined);
  return places.map(({ promise }) => promise);
}
