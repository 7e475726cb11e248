import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { Secret } from "./secret.ts";

test("a secret is shown only to who asks for it by name", () => {
  const secret = new Secret("hunter2hunter2");
  assert.equal(secret.reveal(), "hunter2hunter2");
  const shown = [
    String(secret),
    JSON.stringify({ secret }),
    inspect(secret, { showHidden: true, depth: 9 }),
    inspect({ nested: [secret] }, { depth: 9 }),
    Object.values(secret).join(","),
    JSON.stringify(Object.getOwnPropertyNames(secret)),
  ];
  for (const text of shown) assert.ok(!text.includes("hunter2"), text);
});
