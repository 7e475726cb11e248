// The stored messages of one session as far as they are loaded: a sorted list without holes at its end.

export interface Row {
  readonly id: number;
  /** False: taken out of what the model sees. */
  readonly active?: boolean;
}

export interface MessageLog<T extends Row> {
  /** Ascending by id. */
  readonly rows: readonly T[];
  /** True once there is nothing older on the server. */
  readonly complete: boolean;
  readonly loaded: boolean;
}

export function emptyLog<T extends Row>(): MessageLog<T> {
  return { rows: [], complete: false, loaded: false };
}

/**
 * Takes the newest page in. The page speaks for every id from its lowest on: rows that it lacks there were undone.
 * `reachesStart`: the page holds everything that there is. A page that does not touch the known rows replaces them.
 */
export function withNewest<T extends Row>(
  log: MessageLog<T>,
  page: readonly T[],
  reachesStart: boolean,
): MessageLog<T> {
  const rows = sorted(page);
  const lowest = rows[0]?.id;
  if (lowest === undefined) return { rows: [], complete: true, loaded: true };
  const older = log.rows.filter((row) => row.id < lowest);
  const touches = reachesStart || log.rows.some((row) => row.id >= lowest);
  return {
    rows:
      touches && !reachesStart ? [...older, ...keepSame(log.rows, rows)] : keepSame(log.rows, rows),
    complete: reachesStart || (touches && log.complete),
    loaded: true,
  };
}

/** Adds a page of older rows. */
export function withOlder<T extends Row>(
  log: MessageLog<T>,
  page: readonly T[],
  reachesStart: boolean,
): MessageLog<T> {
  const known = new Set(log.rows.map((row) => row.id));
  const fresh = page.filter((row) => !known.has(row.id));
  return {
    rows: sorted([...fresh, ...log.rows]),
    complete: reachesStart || page.length === 0,
    loaded: true,
  };
}

function sorted<T extends Row>(rows: readonly T[]): T[] {
  return [...rows].sort((a, b) => a.id - b.id);
}

/** A stored row changes in nothing but `active`: else the known object is kept, so that nothing is drawn again. */
function keepSame<T extends Row>(known: readonly T[], rows: readonly T[]): T[] {
  const byId = new Map(known.map((row) => [row.id, row]));
  return rows.map((row) => {
    const same = byId.get(row.id);
    return same !== undefined && same.active === row.active ? same : row;
  });
}
