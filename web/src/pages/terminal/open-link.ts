// The connection of this tab: its credential, and the name under which the tab finds its program again after a reload.
import type { WsTicketBody } from "#protocol/http-status.ts";
import type { SessionsBody } from "#protocol/http-sessions.ts";
import { boot, client } from "../../app/services.ts";
import {
  PtyLink,
  type PtyLinkListener,
  type PtyWire,
  type PtyWireListener,
  type Size,
} from "./pty-link.ts";

const ATTACH_KEY = "hermes.terminal.attach";

export function openLink(resume: string | null, size: Size, listener: PtyLinkListener): PtyLink {
  return new PtyLink(
    {
      makeUrl: (now) => urlOf(resume, now),
      open: openWire,
      after: (delayMs, run) => {
        const timer = setTimeout(run, delayMs);
        return { cancel: () => clearTimeout(timer) };
      },
      random: Math.random,
      checkCredential: async () => {
        await client.request<SessionsBody>("GET", "/api/sessions", { query: { limit: 1 } });
      },
    },
    listener,
    size,
  );
}

async function urlOf(resume: string | null, { cols, rows }: Size): Promise<string> {
  const credential =
    boot.token === null
      ? { ticket: (await client.request<WsTicketBody>("POST", "/api/auth/ws-ticket")).ticket }
      : { token: boot.token };
  const query = { cols, rows, resume, attach: attachName(resume), ...credential };
  const url = new URL(client.href("/api/pty", query), location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

/** One per tab, and one more for each session that it opens: those are programs of their own. */
function attachName(resume: string | null): string {
  let tab = sessionStorage.getItem(ATTACH_KEY);
  if (tab === null) {
    // Not randomUUID: over plain http to another machine there is none.
    tab = [...crypto.getRandomValues(new Uint8Array(16))]
      .map((byte) => byte.toString(16).padStart(2, "0"))
      .join("");
    sessionStorage.setItem(ATTACH_KEY, tab);
  }
  return resume === null
    ? tab
    : `${tab}.${resume.replaceAll(/[^A-Za-z0-9._-]/g, "_")}`.slice(0, 128);
}

function openWire(url: string, listener: PtyWireListener): PtyWire {
  const wire = new WebSocket(url);
  wire.binaryType = "arraybuffer";
  wire.addEventListener("open", () => listener.onOpen());
  wire.addEventListener("message", ({ data }) => {
    if (typeof data === "string") listener.onText(data);
    else listener.onBytes(new Uint8Array(data as ArrayBuffer));
  });
  wire.addEventListener("close", ({ code, reason }) => listener.onClose(code, reason));
  return wire;
}
