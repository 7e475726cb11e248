// `data/live`: a socket on which a ready process answers every connection with one line. No answer within a second means that
// it hangs (container.md §6.3). Opened through /proc/self/fd, so that a long path does no harm to the 108 bytes of sun_path.
import { closeSync, openSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";

const ANSWER_MS = 1000;
const NAME = "live";

export interface LiveSocket {
  close(): void;
}

/** Listens in `<slotDir>/data`. Rejects with the system's error. */
export function openLiveSocket(slotDir: string): Promise<LiveSocket> {
  const data = join(slotDir, "data");
  rmSync(join(data, NAME), { force: true });
  const folder = openSync(data, "r");
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.end("ok\n");
  });
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      closeSync(folder);
      reject(error);
    });
    server.listen(`/proc/self/fd/${folder}/${NAME}`, () => {
      server.unref();
      closeSync(folder);
      resolve({
        close() {
          server.close();
          rmSync(join(data, NAME), { force: true });
        },
      });
    });
  });
}

/** Does the process of this slot answer within a second? False also when nobody listens. */
export function asksLive(slotDir: string, limitMs = ANSWER_MS): Promise<boolean> {
  return new Promise((resolve) => {
    let folder: number;
    try {
      folder = openSync(join(slotDir, "data"), "r");
    } catch {
      resolve(false);
      return;
    }
    const socket = connect(`/proc/self/fd/${folder}/${NAME}`);
    const end = (answered: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answered);
    };
    const timer = setTimeout(() => end(false), limitMs);
    socket.once("data", () => end(true));
    socket.once("error", () => end(false));
    socket.once("close", () => end(false));
    socket.once("connect", () => closeOnce(folder));
    socket.once("close", () => closeOnce(folder));
    let isClosed = false;
    function closeOnce(descriptor: number): void {
      if (isClosed) return;
      isClosed = true;
      closeSync(descriptor);
    }
  });
}
