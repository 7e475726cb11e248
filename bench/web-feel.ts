// How the browser app feels, in real Chromium on loopback (issue 6): until a text can be written, from key to paint while an answer
// streams, and what scrolling a conversation of 5,000 messages costs. Needs Debian's chromium.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { systemClock } from "#base/clock.ts";
import { silentLog } from "#base/log.ts";
import { openStore } from "#store/open.ts";
import { median, percentile, report, startDashboard } from "./measure.ts";

const PROGRAM = "/usr/bin/chromium";
const LOADS = 7;
const MESSAGES = 5000;
const WORDS = "the quick brown fox jumps over the lazy dog";
const SESSION = "20260101_000000_aaaaaa";

export async function webFeel(): Promise<void> {
  if (!existsSync(PROGRAM)) {
    console.log(`skipped: ${PROGRAM} is not installed`);
    return;
  }
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  writeFileSync(join(home, "config.yaml"), "model:\n  provider: demo\n  default: demo\n");
  await fill(home);
  const server = await startDashboard(home, { HERMES_DEMO_DELAY_MS: "5" });
  const browser = await chromium.launch({
    executablePath: PROGRAM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"],
  });
  try {
    await load(await browser.newPage(), server.url);
    await type(await browser.newPage(), server.url);
    await scroll(await browser.newPage(), server.url);
  } finally {
    await browser.close();
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

async function fill(home: string): Promise<void> {
  const store = await openStore({
    path: join(home, "state.db"),
    backupsDir: join(home, "backups"),
    journalMode: "auto",
    clock: systemClock,
    log: silentLog,
  });
  const startedAt = Date.UTC(2026, 0, 1) / 1000;
  await store.createSession({ id: SESSION, source: "web", model: "demo", startedAt });
  await store.appendMessages(
    SESSION,
    Array.from({ length: MESSAGES }, (_, index) => ({
      timestamp: startedAt + index,
      role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
      content: index % 2 === 0 ? `question ${index}` : `**answer** ${index}\n\n- one\n- \`two\``,
    })),
  );
  await store.close();
}

/** A fresh profile each time would measure the browser; the first load warms it and is left out. */
async function load(page: Page, url: string): Promise<void> {
  const [paints, useful]: [number[], number[]] = [[], []];
  for (let run = 0; run <= LOADS; run++) {
    await page.goto(`${url}/chat`);
    const composer = page.getByRole("textbox", { name: "Message", exact: true });
    await composer.waitFor();
    const seen = await page.evaluate<number>("performance.now()");
    const paint = await page.evaluate<number>(
      'performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN',
    );
    if (run === 0) continue;
    useful.push(seen);
    paints.push(paint);
  }
  report("page load", {
    "first contentful paint, median ms": median(paints),
    "a text can be written, median ms": median(useful),
  });
}

/** Event Timing: from the key to the next paint. The browser itself rounds to 8 ms. */
async function type(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/chat`);
  await page.getByRole("textbox", { name: "Message", exact: true }).fill("stream 1500");
  await page.keyboard.press("Enter");
  await page.getByTestId("assistant-message").waitFor();
  await page.evaluate(`{
    window.delays = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (entry.name === "keydown") window.delays.push(entry.duration);
    }).observe({ type: "event", durationThreshold: 16 });
  }`);
  const composer = page.getByRole("textbox", { name: "Message", exact: true });
  await composer.pressSequentially(WORDS, { delay: 30 });
  const late = await page.evaluate<number[]>("window.delays");
  const all = [
    ...late,
    ...Array.from({ length: Math.max(0, WORDS.length - late.length) }, () => 16),
  ];
  report("typing while an answer streams", {
    keys: WORDS.length,
    "key to paint, median ms (16: at most)": median(all),
    "p95 ms": percentile(all, 0.95),
  });
}

async function scroll(page: Page, url: string): Promise<void> {
  const began = performance.now();
  await page.goto(`${url}/chat/${SESSION}`);
  await page.getByText(`answer ${MESSAGES - 1}`).waitFor();
  const opened = performance.now() - began;
  const { frames, longest, rows } = await page.evaluate<{
    frames: number;
    longest: number;
    rows: number;
  }>(`(async () => {
    const box = document.querySelector("[data-testid=messages]");
    const gaps = [];
    let last = performance.now();
    let rows = 0;
    for (let step = 0; step < 240; step++) {
      box.scrollTop -= 120;
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      gaps.push(now - last);
      last = now;
      rows = Math.max(rows, box.querySelectorAll("[data-index]").length);
    }
    gaps.sort((a, b) => a - b);
    return { frames: gaps[Math.floor(gaps.length / 2)], longest: gaps[Math.floor(gaps.length * 0.95)], rows };
  })()`);
  report(`a conversation of ${MESSAGES} messages`, {
    "opened, ms": opened,
    "frame while scrolling, median ms": frames,
    "p95 ms": longest,
    "rows drawn at most": rows,
  });
}
