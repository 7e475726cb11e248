// An answer of the gate as a response.
import type { GateAnswer } from "#auth/answer.ts";

export function toResponse({ status, headers, cookies, body }: GateAnswer): Response {
  const all = new Headers(headers);
  for (const line of cookies) all.append("Set-Cookie", line);
  if (body === null) return new Response(null, { status, headers: all });
  const isPage = typeof body === "string";
  all.set("Content-Type", isPage ? "text/html; charset=utf-8" : "application/json");
  return new Response(isPage ? body : JSON.stringify(body), { status, headers: all });
}
