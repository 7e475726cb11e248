// Opening the page in the user's browser: only where there is one and somebody looks (dashboard.md §1.5).
import { spawn } from "node:child_process";
import type { Context } from "../context.ts";
import { isInContainer } from "../in-container.ts";

/** null where no browser is to be opened. What it returns never throws: a page that does not open is no failure. */
export function browserOpener({ launch, line, io }: Context): ((url: string) => void) | null {
  const { env } = launch;
  const isRemote = Boolean(env["SSH_CONNECTION"]);
  const hasScreen =
    process.platform !== "linux" || Boolean(env["DISPLAY"] || env["WAYLAND_DISPLAY"]);
  // `--no-open` stands in the options as `open: false`.
  if (line.options["open"] === false || !io.interactive) return null;
  if (isRemote || !hasScreen || isInContainer(launch)) return null;
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  return (url) => {
    const child = spawn(program, [url], { detached: true, stdio: "ignore" });
    child.on("error", () => undefined);
    child.unref();
  };
}
