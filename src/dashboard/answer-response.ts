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

/** By what only a Response has: `instanceof` would load Node's whole Fetch to say no. */
export function isResponse(answer: unknown): answer is Response {
  return typeof (answer as Partial<Response>).arrayBuffer === "function";
}
