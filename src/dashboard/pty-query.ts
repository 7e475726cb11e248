// What a viewer of a terminal may ask for (dashboard.md §9.4).

export interface PtyQuery {
  readonly cols: number;
  readonly rows: number;
  /** null: the active one. */
  readonly profile: string | null;
  readonly resume: string | null;
  /** Name under which a lost terminal is found again; null: it ends with its socket. */
  readonly attach: string | null;
}

export type PtyQueryReading =
  | { readonly ok: true; readonly query: PtyQuery }
  /** For the close frame: names the parameter. */
  | { readonly ok: false; readonly problem: string };

const MOST = 500;
const DEFAULT_SIZE = { cols: 80, rows: 24 };
const ATTACH = /^[A-Za-z0-9._-]{1,128}$/;
const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/;

export function parsePtyQuery(params: URLSearchParams): PtyQueryReading {
  const cols = parseSize(params.get("cols"), DEFAULT_SIZE.cols);
  const rows = parseSize(params.get("rows"), DEFAULT_SIZE.rows);
  if (cols === null || rows === null) {
    return { ok: false, problem: `cols and rows are whole numbers from 1 to ${MOST}` };
  }
  const [profile, resume, attach] = ["profile", "resume", "attach"].map(
    (name) => params.get(name) || null,
  ) as [string | null, string | null, string | null];
  if (resume !== null && !SESSION_ID.test(resume)) {
    return { ok: false, problem: "resume is the id of a session" };
  }
  if (params.has("attach") && !ATTACH.test(attach ?? "")) {
    return { ok: false, problem: "attach is 1 to 128 letters, digits, dots, _ and -" };
  }
  return { ok: true, query: { cols, rows, profile, resume, attach } };
}

/** 1..500; null: not that. */
function parseSize(text: string | null, missing: number): number | null {
  if (text === null) return missing;
  const size = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  return size >= 1 && size <= MOST ? size : null;
}

const RESIZE = new RegExp(`^${String.fromCharCode(27)}\\[RESIZE:(\\d{1,9});(\\d{1,9})\\]$`);

export type ClientInput =
  | { readonly kind: "input" }
  | { readonly kind: "resize"; readonly cols: number; readonly rows: number }
  /** A resize that no terminal can have. Never forwarded. */
  | { readonly kind: "nothing" };

/** What a frame is. Everything that is not exactly a resize goes to the program. */
export function readClientFrame(bytes: Buffer): ClientInput {
  if (bytes.length > 40 || bytes[0] !== 27) return { kind: "input" };
  const found = RESIZE.exec(bytes.toString("latin1"));
  if (!found) return { kind: "input" };
  const cols = parseSize(found[1] ?? "", 0);
  const rows = parseSize(found[2] ?? "", 0);
  return cols === null || rows === null ? { kind: "nothing" } : { kind: "resize", cols, rows };
}
