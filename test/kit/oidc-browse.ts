// A visitor without a browser: walks from an issuer's authorize address to the callback, with a cookie jar.
import { ask } from "./http.ts";

const MOST_STEPS = 12;

/** The callback's address with its query. Fails with what the issuer answered instead. */
export async function browse(start: URL, jar = new Map<string, string>()): Promise<URL> {
  let at = start;
  for (let step = 0; step < MOST_STEPS; step++) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await ask(at.href, cookie === "" ? {} : { headers: { cookie } });
    keep(jar, answer.headers["set-cookie"] ?? "");
    const location = answer.headers["location"];
    if (location === undefined) {
      throw new Error(`${at.pathname} answered ${answer.status}: ${answer.body.slice(0, 500)}`);
    }
    at = new URL(location, at);
    if (at.pathname.endsWith("/auth/callback")) return at;
  }
  throw new Error(`no callback after ${MOST_STEPS} steps`);
}

/** Several cookies stand in one text; a comma in an Expires date is followed by a space and a digit. */
function keep(jar: Map<string, string>, lines: string): void {
  for (const line of lines.split(/,\s*(?=[A-Za-z_.]+=)/u)) {
    const pair = /^([^=;]+)=([^;]*)/u.exec(line);
    if (!pair?.[1]) continue;
    if (pair[2] === "") jar.delete(pair[1]);
    else jar.set(pair[1], pair[2] ?? "");
  }
}
