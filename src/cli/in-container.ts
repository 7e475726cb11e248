// "Am I in a container?": for wording and for the allow-list of tools only, never to find a supervisor (container.md §7.1).
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Launch } from "./context.ts";

export function isInContainer(launch: Pick<Launch, "project" | "env">): boolean {
  if (launch.env["KUBERNETES_SERVICE_HOST"]) return true;
  return ["/.dockerenv", "/run/.containerenv", join(launch.project, ".install_method")].some(
    (path) => existsSync(path),
  );
}

/** Is this the install tree of the image, where another user than root is always there? */
export function isInImage(launch: Pick<Launch, "project">): boolean {
  try {
    return readFileSync(join(launch.project, ".install_method"), "utf8").trim() === "docker";
  } catch {
    return false;
  }
}
