import { expect, test } from "vitest";
import { emptyLog, withNewest, withOlder, type MessageLog, type Row } from "./log.ts";

const rows = (...ids: number[]): Row[] => ids.map((id) => ({ id }));
const ids = (log: MessageLog<Row>) => log.rows.map((row) => row.id);

function loaded(complete: boolean, ...of: number[]): MessageLog<Row> {
  return { rows: rows(...of), complete, loaded: true };
}

test.each([
  ["first page", emptyLog<Row>(), [5, 4, 3], false, [3, 4, 5], false],
  ["whole history", emptyLog<Row>(), [2, 1], true, [1, 2], true],
  ["nothing at all", loaded(true, 1), [], true, [], true],
  ["new rows join", loaded(true, 1, 2, 3), [5, 4, 3], false, [1, 2, 3, 4, 5], true],
  [
    "rows that the page lacks were undone",
    loaded(true, 1, 2, 3, 4),
    [5, 2],
    false,
    [1, 2, 5],
    true,
  ],
  ["a page that does not touch replaces", loaded(true, 1, 2), [9, 8], false, [8, 9], false],
  ["a page from the start replaces", loaded(false, 7, 8), [2, 1], true, [1, 2], true],
])("newest: %s", (_name, log, page, reachesStart, expected, complete) => {
  const after = withNewest(log, rows(...page), reachesStart);
  expect(ids(after)).toEqual(expected);
  expect(after.complete).toBe(complete);
});

test("known rows keep their identity", () => {
  const log = loaded(true, 1, 2);
  const after = withNewest(log, rows(3, 2), false);
  expect(after.rows[1]).toBe(log.rows[1]);
});

test.each([
  ["joins in front, once", loaded(false, 4, 5), [4, 3, 2], false, [2, 3, 4, 5], false],
  ["an empty page is the beginning", loaded(false, 4), [], false, [4], true],
])("older: %s", (_name, log, page, reachesStart, expected, complete) => {
  const after = withOlder(log, rows(...page), reachesStart);
  expect(ids(after)).toEqual(expected);
  expect(after.complete).toBe(complete);
});

test("a row that was taken out of the conversation is taken anew, the others are kept", () => {
  const known = [
    { id: 1, active: true },
    { id: 2, active: true },
  ];
  const log = withNewest(
    { rows: known, complete: true, loaded: true },
    [
      { id: 2, active: false },
      { id: 1, active: true },
    ],
    true,
  );
  expect(log.rows[0]).toBe(known[0]);
  expect(log.rows[1]).toEqual({ id: 2, active: false });
});
