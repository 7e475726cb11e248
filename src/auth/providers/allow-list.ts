// Who of those that an issuer signs in may come in (dashboard.md §5.4).
import { listClaim, textClaim, type Claims } from "./claims.ts";

export interface AllowList {
  /** Subjects or verified addresses. */
  readonly users: readonly string[];
  /** Domains of verified addresses. */
  readonly domains: readonly string[];
  readonly groups: readonly string[];
}

export function isOpen({ users, domains, groups }: AllowList): boolean {
  return users.length + domains.length + groups.length === 0;
}

/** Any match lets in; an empty list lets everyone in. An address counts only when the issuer verified it. */
export function isAllowed(list: AllowList, claims: Claims): boolean {
  if (isOpen(list)) return true;
  if (list.users.includes(textClaim(claims, "sub"))) return true;
  if (listClaim(claims, "groups").some((group) => list.groups.includes(group))) return true;
  return claims["email_verified"] === true && isAllowedAddress(list, textClaim(claims, "email"));
}

function isAllowedAddress({ users, domains }: AllowList, email: string): boolean {
  const address = email.toLowerCase();
  const at = address.lastIndexOf("@");
  if (at < 1) return false;
  const domain = address.slice(at + 1);
  return (
    users.some((user) => user.toLowerCase() === address) ||
    domains.some((entry) => entry.toLowerCase().replace(/^@/u, "") === domain)
  );
}
