// dashboard.md §11.2, §14 row 51: asked in the background, every 5 s, and a health address that hangs costs nobody anything.
import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { FakeClock } from "../../../test/kit/fake-clock.ts";
import { until } from "../../../test/kit/until.ts";
import { watchRemoteGateway } from "./remote-gateway.ts";

async function openHealth(t: TestContext) {
  const site = {
    asked: 0,
    answer: (response: ServerResponse): void => void response.end("ok"),
    url: "",
  };
  const server = createServer((_request, response) => {
    site.asked++;
    site.answer(response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  site.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/health`;
  return site;
}

test("up, down and up again; asked every 5 s and not in between", async (t) => {
  const site = await openHealth(t);
  const clock = new FakeClock();
  const gateway = watchRemoteGateway(site.url, "2", clock);
  t.after(() => gateway.close());
  assert.equal(gateway.state(), null);
  await until("the first answer", () => gateway.state() === "up");
  await until("the next question is planned", () => clock.pending === 1);
  await clock.advance(4999);
  assert.equal(site.asked, 1);
  for (const [answer, state] of [
    [(response: ServerResponse) => void response.writeHead(503).end(), "down"],
    [(response: ServerResponse) => void response.writeHead(302, { location: "/" }).end(), "down"],
    [(response: ServerResponse) => void response.destroy(), "down"],
    [(response: ServerResponse) => void response.end("ok"), "up"],
  ] as const) {
    site.answer = answer;
    const before = site.asked;
    await clock.advance(5000);
    await until("it is asked", () => site.asked > before);
    await until("the next question is planned", () => clock.pending === 1);
    assert.equal(gateway.state(), state);
  }
  gateway.close();
  const before = site.asked;
  await clock.advance(20_000);
  assert.equal(site.asked, before);
});

test("an address that hangs is down after its limit; nobody waited for it", async (t) => {
  const site = await openHealth(t);
  site.answer = () => undefined;
  const clock = new FakeClock();
  const gateway = watchRemoteGateway(site.url, "0.2", clock);
  t.after(() => gateway.close());
  await until("it is asked", () => site.asked === 1);
  assert.equal(gateway.state(), null);
  await until("the limit", () => gateway.state() === "down");
});

test("no address: nothing is asked", () => {
  const clock = new FakeClock();
  assert.equal(watchRemoteGateway(null, undefined, clock).state(), null);
  assert.equal(clock.pending, 0);
});
