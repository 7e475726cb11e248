// Everybody who says how a service is doing, each asked through its own door; what it says as one shape.
import type { ServiceState } from "#protocol/http-status.ts";
import { type Answer, ask } from "./http.ts";
import { DASHBOARD, GATEWAY, TOKEN, type TruthRing } from "./truth-ring.ts";

/** What one observer says. A word that this observer does not say is left out. */
export interface Claim {
  readonly gateway?: string;
  readonly dashboard?: string;
  /** The image's HEALTHCHECK. */
  readonly healthy?: boolean;
  /** `running` or `down`: what answers at the dashboard's address. */
  readonly alive?: string;
  /** It does not speak at all, as a dashboard that is down. */
  readonly silent?: string;
}

export interface Truth {
  readonly gateway: ServiceState;
  readonly dashboard: ServiceState;
  /** `gateway_state` of /api/status for that gateway. */
  readonly word: string | null;
  readonly healthy: boolean;
}

export interface Observer {
  readonly name: string;
  /** `slot`: of the gateway that is asked for. */
  ask(ring: TruthRing, slot: string): Promise<Claim>;
  /** What it must say. */
  truth(truth: Truth, slot: string): Claim;
}

interface Service {
  readonly name: string;
  readonly state: string;
}

const stateOf = (services: readonly Service[] | undefined, name: string): string =>
  services?.find((service) => service.name === name)?.state ?? "not told";

function both(services: readonly Service[] | undefined, slot: string): Claim {
  return { gateway: stateOf(services, slot), dashboard: stateOf(services, DASHBOARD) };
}

function parse<T>(text: string, stderr = ""): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new Error(`no JSON: ${text}${stderr}`);
  }
}

const ASK_MS = 1000;

/** Of the dashboard; null when it does not answer. */
async function fromDashboard(ring: TruthRing, path: string): Promise<Answer | null> {
  const late = new Promise<null>((resolve) => {
    setTimeout(() => resolve(null), ASK_MS).unref();
  });
  const headers = { "x-hermes-session-token": TOKEN };
  return Promise.race([ask(`${ring.dashboardUrl}${path}`, { headers }).catch(() => null), late]);
}

const profileOf = (slot: string): string => slot.slice("gateway-".length);

const SILENT: Claim = { silent: "no answer" };
/** States in which a dashboard may still answer for itself. */
const speaks = (dashboard: ServiceState): boolean => dashboard === "ready";
const states = ({ gateway, dashboard }: Truth): Claim => ({ gateway, dashboard });

export const OBSERVERS: readonly Observer[] = [
  {
    name: "hermes status --json",
    async ask(ring, slot) {
      const { stdout, stderr } = await ring.run("status", "--json");
      return both(parse<{ services?: readonly Service[] }>(stdout, stderr).services, slot);
    },
    truth: states,
  },
  {
    name: "hermes doctor --json",
    async ask(ring, slot) {
      const { stdout, stderr } = await ring.run("doctor", "--json");
      const { sections = [] } = parse<{
        sections?: readonly { items: readonly { message: string }[] }[];
      }>(stdout, stderr);
      const told = sections.flatMap(({ items }) => items).map(({ message }) => message);
      const word = (name: string): string =>
        told.map((text) => new RegExp(`^${name}: ([a-z-]+)`, "u").exec(text)?.[1]).find(Boolean) ??
        "not told";
      return { gateway: word(slot), dashboard: word(DASHBOARD) };
    },
    truth: states,
  },
  {
    name: "hermes gateway status --json",
    async ask(ring, slot) {
      const { stdout, stderr } = await ring.run(
        "-p",
        profileOf(slot),
        "gateway",
        "status",
        "--json",
      );
      const { service } = parse<{ service?: Service }>(stdout, stderr);
      return { gateway: service?.state ?? "not told" };
    },
    truth: ({ gateway }) => ({ gateway }),
  },
  {
    name: "GET /api/status",
    async ask(ring, slot) {
      const answer = await fromDashboard(ring, `/api/status?profile=${profileOf(slot)}`);
      if (answer === null) return SILENT;
      const { gateway_state: word, services } = answer.json<{
        gateway_state: string | null;
        services?: readonly Service[];
      }>();
      return { alive: String(word), ...both(services, slot) };
    },
    truth: (truth) =>
      speaks(truth.dashboard) ? { alive: String(truth.word), ...states(truth) } : SILENT,
  },
  {
    name: "GET /api/services",
    async ask(ring, slot) {
      const answer = await fromDashboard(ring, "/api/services");
      if (answer === null) return SILENT;
      return both(answer.json<{ services?: readonly Service[] }>().services, slot);
    },
    truth: (truth) => (speaks(truth.dashboard) ? states(truth) : SILENT),
  },
  {
    name: "hermes probe --self",
    async ask(ring, slot) {
      const { stdout, code } = await ring.run("probe", "--self");
      const word = (name: string): string =>
        new RegExp(`\\b${name} ([a-z-]+)`, "u").exec(stdout)?.[1] ?? "not told";
      return { healthy: code === 0, gateway: word(slot), dashboard: word(DASHBOARD) };
    },
    truth: (truth) => ({ healthy: truth.healthy, ...states(truth) }),
  },
  {
    name: "hermes probe URL",
    async ask(ring) {
      const words = ["probe", ring.dashboardUrl, "--timeout", "1", "--json"];
      const { stdout, stderr } = await ring.run(...words);
      const { results } = parse<{
        results?: readonly { state: string; gateway_state: string | null }[];
      }>(stdout, stderr);
      const { state, gateway_state: word } = results?.[0] ?? { state: "not told" };
      return { alive: state === "running" ? `running, gateway ${word}` : state };
    },
    // It asks without a credential, hence of the default profile, which is well beside another one.
    truth: ({ dashboard, word }, slot) => ({
      alive: speaks(dashboard) ? `running, gateway ${slot === GATEWAY ? word : "running"}` : "down",
    }),
  },
];
