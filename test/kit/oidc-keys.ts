// The signing keys of a test issuer: they can change, and tokens can be signed wrongly on purpose.
import { randomUUID } from "node:crypto";
import {
  CompactSign,
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  type JWK,
} from "jose";

type Json = Record<string, unknown>;

/** What to change about the next tokens. Members that are `undefined` are removed. */
export interface Forgery {
  readonly header?: Readonly<Json>;
  readonly payload?: Readonly<Json>;
  /** Members of the token endpoint's answer. */
  readonly answer?: Readonly<Json>;
  /**
   * `own` (default): the issuer's current key. `stranger`: another key under the same kid. `tampered`: signed, then
   * changed. `none`: RFC 7519 §6. `hs256`: MACed with the published key as if it were a secret.
   */
  readonly sign?: "own" | "stranger" | "tampered" | "none" | "hs256";
}

interface SigningKey {
  readonly private: CryptoKey;
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
}

export interface IssuerKeys {
  /** For the issuer's own configuration. */
  readonly first: JWK;
  /** What the key set's address answers. */
  published(): { readonly keys: readonly JWK[] };
  /** A new key signs from now on; the old one is no longer published. */
  rotate(): Promise<void>;
  /** The same token, signed anew by the current key, with the forgery and shifted by so many seconds. */
  sign(token: string, forgery: Forgery, skewSeconds: number): Promise<string>;
}

export async function createKeys(algorithm: "RS256" | "ES256"): Promise<IssuerKeys> {
  let current = await createKey(algorithm);
  const stranger = await createKey(algorithm);
  return {
    first: current.privateJwk,
    published: () => ({ keys: [current.publicJwk] }),
    async rotate() {
      current = await createKey(algorithm);
    },
    async sign(token, forgery, skewSeconds) {
      const kid = current.publicJwk.kid;
      const header = merged(
        { ...decodeProtectedHeader(token), alg: algorithm, kid },
        forgery.header,
      );
      const payload = merged(shifted(decodeJwt(token), skewSeconds), forgery.payload);
      switch (forgery.sign ?? "own") {
        case "own":
          return compact(header, payload, current.private);
        case "stranger":
          return compact(header, payload, stranger.private);
        case "tampered":
          return tampered(await compact(header, payload, current.private));
        case "none":
          return `${encoded({ ...header, alg: "none" })}.${encoded(payload)}.`;
        case "hs256": {
          const secret = new TextEncoder().encode(JSON.stringify(current.publicJwk));
          return compact({ ...header, alg: "HS256" }, payload, secret);
        }
      }
    },
  };
}

async function createKey(algorithm: "RS256" | "ES256"): Promise<SigningKey> {
  const pair = await generateKeyPair(algorithm, { extractable: true });
  const common = { kid: randomUUID(), alg: algorithm, use: "sig" };
  return {
    private: pair.privateKey,
    publicJwk: { ...(await exportJWK(pair.publicKey)), ...common },
    privateJwk: { ...(await exportJWK(pair.privateKey)), ...common },
  };
}

function compact(header: Json, payload: Json, key: CryptoKey | Uint8Array): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(payload));
  return new CompactSign(bytes).setProtectedHeader(header as { alg: string }).sign(key);
}

/** The payload says something else than what was signed. */
function tampered(token: string): string {
  const [header, payload = "", signature] = token.split(".");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as Json;
  return [header, encoded({ ...claims, name: "Somebody Else" }), signature].join(".");
}

function encoded(value: Json): string {
  return Buffer.from(JSON.stringify(value), "utf8").toString("base64url");
}

export function merged(value: Readonly<Json>, changes: Readonly<Json> = {}): Json {
  const all = Object.entries({ ...value, ...changes });
  return Object.fromEntries(all.filter(([, member]) => member !== undefined));
}

function shifted(payload: Json, seconds: number): Json {
  const times = ["iat", "exp", "nbf", "auth_time"].flatMap((name) => {
    const at = payload[name];
    return typeof at === "number" ? [[name, at + seconds] as const] : [];
  });
  return { ...payload, ...Object.fromEntries(times) };
}
