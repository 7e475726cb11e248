// Settings: the form, the file, what the form is built from (dashboard.md §11.5).
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import * as z from "zod/mini";
import { isFreshLogin, reauthUrl } from "#auth/session-gate.ts";
import { parseConfigText } from "#config/document.ts";
import { configPathOf, readText } from "#config/files.ts";
import { getAt, toPlain } from "#config/plain.ts";
import { editConfigText } from "#config/yaml-edit.ts";
import { SECRET_SET } from "#protocol/http-config.ts";
import { changesOf, formOf, GATE_KEYS, isGateKey, needsFreshLogin } from "../config-form.ts";
import { writeSettings, writeWholeConfig } from "../config-files.ts";
import { isSecretValue, textPaths } from "../config-secrets.ts";
import type { ProfileServices } from "../deps.ts";
import { fail } from "../errors.ts";
import { json, type Registrars, type RouteContext } from "../routing.ts";
import { profileOf, type RouteServices } from "../route-services.ts";

export function registerConfig(routes: Registrars, services: RouteServices): void {
  routes.public("GET /api/config/defaults", {
    handler: async () => json((await import("#config/defaults.ts")).configDefaults()),
  });
  routes.public("GET /api/config/schema", {
    handler: async () => json((await import("#config/schema.ts")).configFormSchema()),
  });

  routes.session("GET /api/config", {
    async handler(context) {
      const profile = await profileOf(services, context);
      const tag = etagOf(textOnDisk(profile));
      return json(formOf(profile.loaded().config), 200, { ETag: tag });
    },
  });

  routes.session("PUT /api/config", {
    body: z.object({ config: z.record(z.string(), z.unknown()) }),
    async handler(context) {
      const profile = await profileOf(services, context);
      const text = textOnDisk(profile);
      checkMatch(context, text);
      const changes = changesOf(context.body.config, profile.loaded().config);
      for (const { path } of changes) {
        if (isGateKey(path)) throw gateKey(path.join("."), null);
        requireFreshLogin(path, context, services);
      }
      await writeSettings(profile, services, changes, { expected: text });
      return json({ ok: true }, 200, { ETag: etagOf(textOnDisk(profile)) });
    },
  });

  routes.recheck(
    "GET /api/config/raw",
    { freshLogin: false },
    {
      async handler(context) {
        const text = textOnDisk(await profileOf(services, context));
        return json({ yaml: maskText(text ?? "") }, 200, { ETag: etagOf(text) });
      },
    },
  );

  routes.recheck(
    "PUT /api/config/raw",
    { freshLogin: true },
    {
      body: z.object({ yaml_text: z.string() }),
      async handler(context) {
        const profile = await profileOf(services, context);
        const before = textOnDisk(profile);
        checkMatch(context, before);
        const after = unmaskText(context.body.yaml_text, before ?? "");
        checkGateKeys(before ?? "", after);
        await writeWholeConfig(profile, services, after, { expected: before });
        return json({ ok: true }, 200, { ETag: etagOf(textOnDisk(profile)) });
      },
    },
  );
}

/** null: no file. An unreadable one is told apart from a missing one. */
function textOnDisk({ home }: ProfileServices): string | null {
  const file = readText(configPathOf(home));
  switch (file.state) {
    case "text":
      return file.text;
    case "missing":
      return null;
    case "binary":
      throw fail(409, "config_broken", "config.yaml is not UTF-8 text");
    case "unreadable":
      throw fail(409, "config_broken", "config.yaml cannot be read");
    default:
      return file satisfies never;
  }
}

function etagOf(text: string | null): string {
  return `"${createHash("sha256")
    .update(text ?? "")
    .digest("base64url")
    .slice(0, 22)}"`;
}

/** Without `If-Match` the text that is there now counts. */
function checkMatch({ facts }: Pick<RouteContext, "facts">, text: string | null): void {
  const wanted = facts.headers["if-match"];
  if (wanted === undefined || wanted === "*" || wanted.includes(etagOf(text))) return;
  throw fail(412, "conflict", "The settings were changed by somebody else in the meantime");
}

/** As class R with `freshLogin`: the record as it is on disk, and a sign-in of the last 15 minutes. */
function requireFreshLogin(
  path: readonly string[],
  { caller, facts }: Pick<RouteContext, "caller" | "facts">,
  { auth, deps }: RouteServices,
): void {
  if (caller.kind === "local" || !needsFreshLogin(path)) return;
  const isFresh =
    caller.kind === "session" && auth.isLive(caller) && isFreshLogin(caller.session, deps.clock);
  if (isFresh) return;
  const login = { login_url: reauthUrl(facts.prefix) };
  throw fail(403, "reauth_required", `Sign in again to change ${path.join(".")}`, login);
}

function gateKey(key: string, line: number | null): Error {
  const detail = `${key} decides who gets in: change it with the command line or in the file`;
  return fail(400, "invalid", detail, line === null ? {} : { line });
}

function maskText(text: string): string {
  const parsed = parseConfigText(text);
  // A broken file is shown as it is: it is what has to be repaired, and this route checks the caller again.
  if (!parsed.ok) return text;
  const secrets = textPaths(toPlain(parsed.document.raw), isSecretValue);
  return secrets.reduce(
    (masked, path) => editConfigText(masked, { path, value: SECRET_SET }),
    text,
  );
}

function unmaskText(text: string, before: string): string {
  const parsed = parseConfigText(text);
  if (!parsed.ok) throw fail(400, "invalid", parsed.message, { ...parsed.place });
  const old = parseConfigText(before);
  const values = old.ok ? toPlain(old.document.raw) : {};
  const marks = textPaths(toPlain(parsed.document.raw), (_path, value) => value === SECRET_SET);
  return marks.reduce(
    (restored, path) => editConfigText(restored, { path, value: getAt(values, path) }),
    text,
  );
}

function checkGateKeys(before: string, after: string): void {
  const [old, next] = [parseConfigText(before), parseConfigText(after)];
  // A broken file may be repaired by hand only: the writer says so with its line.
  if (!old.ok || !next.ok) return;
  for (const key of GATE_KEYS) {
    const path = ["dashboard", key];
    const [was, is] = [old, next].map(({ document }) => toPlain(getAt(document.raw, path)));
    if (isDeepStrictEqual(was, is)) continue;
    throw gateKey(path.join("."), next.document.placeOf(path)?.line ?? null);
  }
}
