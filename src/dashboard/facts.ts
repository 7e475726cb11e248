// What is known about a request before it is routed. Nothing else about a request takes part in a decision.
import type { IncomingHttpHeaders } from "node:http";

export interface RequestFacts {
  readonly id: string;
  readonly method: string;
  /** Dispatched path: prefix taken off, dot segments resolved, one spelling. */
  readonly path: string;
  /** Without "?". */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** Address of the client, behind believed proxies. */
  readonly client: string;
  readonly peerIsLoopback: boolean;
  /** By evidence https. */
  readonly https: boolean;
  /** Effective Host, as it came. */
  readonly host: string;
  /** "" or `/hermes`: what `href` puts in front. */
  readonly prefix: string;
  /** Origins whose pages are ours. */
  readonly ownOrigins: ReadonlySet<string>;
}
