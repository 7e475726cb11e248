// What `--safe-mode` still takes from the file (agent.md §1.2: built-in defaults, credentials still load).
import { isGuarded, type TreeNode } from "./shape.ts";

/** How to reach the model counts as a credential. */
const CREDENTIALS: ReadonlySet<string> = new Set(["_config_version", "model", "providers"]);

/** Guarded settings stay: a mode that is called safe must not drop a deny list or a login. */
export function isReadInSafeMode(path: readonly string[], node: TreeNode): boolean {
  if (CREDENTIALS.has(path[0] ?? "")) return true;
  return node.kind !== "section" && isGuarded(node);
}
