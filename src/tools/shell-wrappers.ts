// Programs that run another command which they are given: what is inside them.
import { basename } from "node:path";

/** What a command carries inside. */
export type Inner =
  /** Words of a command. */
  | { readonly kind: "words"; readonly words: readonly string[] }
  /** Text of a script, with `$0`, `$1`, … */
  | { readonly kind: "script"; readonly source: string; readonly args: readonly string[] }
  /** It reads a script from its standard input. */
  | { readonly kind: "stdin-script" }
  /** Code of an interpreter; only the strings in it are looked at. */
  | { readonly kind: "code"; readonly source: string }
  | { readonly kind: "stdin-code" };

interface WrapperRule {
  /** Options that take a value as the next word. */
  readonly values?: string;
  /** Words before the command that are no options. */
  readonly skip?: number;
  /** The rest is text for a shell rather than words. */
  readonly joins?: boolean;
}

/** `values` holds option letters (`u` for -u) and long names between spaces. */
const WRAPPERS: Readonly<Record<string, WrapperRule>> = {
  sudo: { values: "u g h p C r t U D R T user group chdir" },
  doas: { values: "u C" },
  env: { values: "u C unset chdir" },
  nohup: {},
  setsid: {},
  nice: { values: "n adjustment" },
  ionice: { values: "c n p class classdata" },
  chrt: { skip: 1 },
  taskset: { skip: 1 },
  timeout: { values: "s k signal kill-after", skip: 1 },
  stdbuf: { values: "i o e" },
  time: { values: "f o" },
  command: {},
  builtin: {},
  exec: { values: "a" },
  unbuffer: {},
  strace: { values: "e o p s u" },
  ltrace: { values: "e o p s u" },
  watch: { values: "n interval", joins: true },
  xargs: { values: "a d E I L n P s arg-file delimiter replace max-args max-procs max-lines" },
  parallel: { values: "j a jobs", joins: true },
  chroot: { skip: 1 },
  unshare: { values: "R w S G root wd" },
  nsenter: { values: "t S G target" },
  setpriv: {},
  runuser: { values: "u g G" },
  "systemd-run": { values: "p u E M unit property" },
  busybox: {},
  toybox: {},
  caffeinate: {},
  faketime: { skip: 1 },
  torsocks: {},
  proxychains: {},
  coproc: {},
  "!": {},
};

const SHELLS = new Set([
  "sh",
  "bash",
  "dash",
  "zsh",
  "ksh",
  "mksh",
  "ash",
  "fish",
  "rbash",
  "csh",
  "tcsh",
]);
const INTERPRETERS =
  /^(?:python[\d.]*|perl[\d.]*|ruby[\d.]*|node|nodejs|php[\d.]*|lua[\d.]*|deno|bun|awk|gawk|mawk)$/;

/** `words[0]` is a plain program name. Empty: nothing inside. */
export function innerOf(words: readonly string[]): readonly Inner[] {
  const name = words[0] ?? "";
  const args = words.slice(1);
  if (SHELLS.has(name)) return shellInner(args);
  if (INTERPRETERS.test(name)) return codeInner(name, args);
  switch (name) {
    case "eval":
      return [{ kind: "script", source: args.join(" "), args: [] }];
    case "trap":
      return args.length > 1 ? [{ kind: "script", source: args[0] ?? "", args: [] }] : [];
    case "su":
    case "script":
      return optionScript(args, /^-[a-z]*c$/, "--command");
    case "flock":
      return flockInner(args);
    case "find":
      return findInner(args);
    case "env":
      return envInner(args);
    case "source":
    case ".":
      return /^(?:\/dev\/stdin|\/dev\/fd\/0|-|\/proc\/self\/fd\/0)$/.test(args[0] ?? "")
        ? [{ kind: "stdin-script" }]
        : [];
    case "sudo":
      return sudoInner(args);
    default:
      return wrapped(name, args);
  }
}

function wordsInner(words: readonly string[]): readonly Inner[] {
  return words.length > 0 ? [{ kind: "words", words }] : [];
}

function wrapped(name: string, args: readonly string[]): readonly Inner[] {
  const rule = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  if (!rule) return [];
  if (name === "command" && /^-[vV]/.test(args[0] ?? "")) return [];
  const rest = afterOptions(args, rule).slice(rule.skip ?? 0);
  if (!rule.joins) return wordsInner(rest);
  return rest.length > 0 ? [{ kind: "script", source: rest.join(" "), args: [] }] : [];
}

function afterOptions(args: readonly string[], rule: WrapperRule): readonly string[] {
  const values = new Set((rule.values ?? "").split(" "));
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (arg === "--") return args.slice(at + 1);
    // `sudo A=1 cmd`, `env A=1 cmd`
    if (/^[A-Za-z_]\w*=/.test(arg)) continue;
    if (!arg.startsWith("-") || arg === "-") return args.slice(arg === "-" ? at + 1 : at);
    const letter = arg.startsWith("--") ? arg.slice(2) : arg.length === 2 ? arg.slice(1) : "";
    if (values.has(letter)) at++;
  }
  return [];
}

function sudoInner(args: readonly string[]): readonly Inner[] {
  const rest = afterOptions(args, WRAPPERS["sudo"] ?? {});
  return rest.length > 0 ? wordsInner(rest) : [{ kind: "stdin-script" }];
}

function flockInner(args: readonly string[]): readonly Inner[] {
  const rest = afterOptions(args, { values: "w E timeout conflict-exit-code" }).slice(1);
  if (rest[0] === "-c" || rest[0] === "--command") {
    return [{ kind: "script", source: rest[1] ?? "", args: [] }];
  }
  return wordsInner(rest);
}

function envInner(args: readonly string[]): readonly Inner[] {
  const at = args.findIndex((arg) => /^(?:-S|--split-string)/.test(arg));
  if (at === -1) return wrapped("env", args);
  const inline = (args[at] ?? "").replace(/^(?:-S|--split-string=?)/, "");
  return [{ kind: "script", source: [inline, ...args.slice(at + 1)].join(" "), args: [] }];
}

function shellInner(args: readonly string[]): readonly Inner[] {
  let wantsScript = false;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (/^[-+][A-Za-z]+$/.test(arg)) {
      if (arg.startsWith("-") && arg.includes("c")) wantsScript = true;
      if (/^[-+][A-Za-z]*[oO]$/.test(arg)) at++;
      if (arg === "-s") return [{ kind: "stdin-script" }];
    } else if (arg === "--rcfile" || arg === "--init-file") at++;
    else if (arg.startsWith("--")) continue;
    else if (wantsScript) return [{ kind: "script", source: arg, args: args.slice(at + 1) }];
    else
      return /^(?:\/dev\/stdin|\/dev\/fd\/0|-|\/proc\/self\/fd\/0)$/.test(arg)
        ? [{ kind: "stdin-script" }]
        : [];
  }
  return [{ kind: "stdin-script" }];
}

function optionScript(args: readonly string[], short: RegExp, long: string): readonly Inner[] {
  const at = args.findIndex((arg) => short.test(arg) || arg === long || arg.startsWith(`${long}=`));
  if (at === -1) return [];
  const arg = args[at] ?? "";
  const source = arg.startsWith(`${long}=`) ? arg.slice(long.length + 1) : (args[at + 1] ?? "");
  return [{ kind: "script", source, args: [] }];
}

function codeInner(name: string, args: readonly string[]): readonly Inner[] {
  if (name.endsWith("awk")) {
    const program = args.find((arg) => !arg.startsWith("-"));
    return program === undefined ? [] : [{ kind: "code", source: program }];
  }
  const at = args.findIndex((arg) => /^(?:-[A-Za-z]*[cerEp]|--eval|--print)$/.test(arg));
  if (at !== -1) return [{ kind: "code", source: args[at + 1] ?? "" }];
  return args.every((arg) => arg.startsWith("-")) ? [{ kind: "stdin-code" }] : [];
}

/** Each `-exec … ;` with `{}` replaced by where the search starts. */
function findInner(args: readonly string[]): readonly Inner[] {
  const firstTest = args.findIndex((arg) => /^[-(!]/.test(arg) && !/^-[HLPDO]/.test(arg));
  const starts = args
    .slice(0, firstTest === -1 ? args.length : firstTest)
    .filter((arg) => !arg.startsWith("-"));
  const roots = starts.length > 0 ? starts : ["."];
  const inner: Inner[] = [];
  for (let at = 0; at < args.length; at++) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(args[at] ?? "")) continue;
    const end = args.findIndex((arg, index) => index > at && (arg === ";" || arg === "+"));
    const body = args.slice(at + 1, end === -1 ? args.length : end);
    inner.push(...wordsInner(body.flatMap((word) => (word === "{}" ? roots : [word]))));
  }
  return inner;
}

/** A program's name without the folder it is installed in: `/usr/bin/rm` → `rm`. */
export function programName(word: string): string {
  return /(?:^|\/)(?:s?bin|command)\/[^/]+$/.test(word) ? basename(word) : word;
}

const RUNS_COMMANDS = /system|popen|exec|spawn|subprocess|check_output|run\(|call\(|`|%x|qx|shell/;

/** Strings of a program's source that may be commands: each alone, and all of them as one line. */
export function commandsInCode(source: string): readonly string[] {
  if (!RUNS_COMMANDS.test(source)) return [];
  const literals = [
    ...source.matchAll(/"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g),
  ]
    .map((match) => (match[1] ?? match[2] ?? match[3] ?? "").replace(/\\(["'`\\])/g, "$1"))
    .filter((text) => text !== "")
    .slice(0, 50);
  return [...literals, literals.join(" ")];
}
