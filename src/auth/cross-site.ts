// Whether a page of another site made this request (dashboard.md §2.5). SameSite cookies do not replace it: a page on a
// sibling sub-domain is same-site.

export interface CrossSiteQuestion {
  /** Upgrades are asked too, whatever their method. */
  readonly unsafe: boolean;
  readonly origin: string | undefined;
  readonly secFetchSite: string | undefined;
  readonly contentType: string | undefined;
  /** `Authorization: Bearer` or `X-Hermes-Session-Token` is there, right or wrong: no form can send it. */
  readonly hasTokenHeader: boolean;
  readonly ownOrigins: ReadonlySet<string>;
}

/** True: go on. */
export function passesCrossSite(question: CrossSiteQuestion): boolean {
  if (!question.unsafe) return true;
  if (question.origin !== undefined) return question.ownOrigins.has(question.origin);
  if (question.secFetchSite !== undefined) return question.secFetchSite === "same-origin";
  // No browser leaves both out of an unsafe request: this is a program.
  return question.hasTokenHeader || isPlainJson(question.contentType);
}

function isPlainJson(contentType: string | undefined): boolean {
  if (contentType === undefined) return true;
  return contentType.split(";", 1)[0]?.trim().toLowerCase() === "application/json";
}

export interface OriginFacts {
  /** Effective Host, as it came. */
  readonly host: string;
  /** By evidence https. */
  readonly https: boolean;
  readonly publicOrigin: string | null;
  readonly corsOrigins: readonly string[];
}

export function ownOrigins(facts: OriginFacts): Set<string> {
  const host = facts.host.toLowerCase();
  const own = new Set([`https://${host}`]);
  if (!facts.https) own.add(`http://${host}`);
  if (facts.publicOrigin !== null) own.add(facts.publicOrigin);
  for (const origin of facts.corsOrigins) own.add(origin);
  return own;
}
