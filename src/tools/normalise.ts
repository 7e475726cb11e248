// The normalised form of a shell command (agent.md §5.3): every simple command in it, also those inside `$(…)`, `sh -c`,
// `eval`, wrappers and here-documents, as plain words. Nothing is run; what cannot be told is marked.
// Over 300 lines because the judging of scripts, pipelines and commands calls itself in a circle.
import {
  expandText,
  expandWord,
  type ExpandContext,
  type Field,
  type Variables,
} from "./shell-expand.ts";
import { lexShell, type Token, type Word } from "./shell-lexer.ts";
import { absolute, resolvePath, tidyPath } from "./shell-paths.ts";
import { staticOutput } from "./shell-static.ts";
import { commandsInCode, innerOf, programName, type Inner } from "./shell-wrappers.ts";
import { assignmentOf, loopOf, splitPipelines, stripReserved } from "./shell-structure.ts";

export interface ShellFacts {
  readonly cwd: string;
  /** HOME of tool processes. */
  readonly userHome: string;
  /** The environment that the command will get. */
  readonly env: Readonly<Record<string, string>>;
  /** Value of `$PPID`: this process. */
  readonly pid: number;
}

export interface Redirect {
  readonly op: string;
  readonly target: string;
  /** Resolved against the directory that is current there. */
  readonly path: string;
}

export interface SimpleCommand {
  readonly words: readonly string[];
  readonly redirects: readonly Redirect[];
  /** Words and redirections with single spaces. */
  readonly text: string;
  /** The same with arguments made absolute. */
  readonly resolved: string;
  /** Text of its here-document or here-string, else "". */
  readonly input: string;
  readonly cwd: string;
  /** The program's name is computed or a pattern: it cannot be judged. */
  readonly unreadable: boolean;
  /** Words that are file-name patterns. */
  readonly globs: ReadonlySet<string>;
}

export interface NormalisedShell {
  readonly commands: readonly SimpleCommand[];
  /** Each pipeline with its commands joined by ` | `. */
  readonly pipelines: readonly string[];
  /** Every script that was met, the command itself first, white space collapsed. */
  readonly scripts: readonly string[];
  /** Too deep or too long to be judged whole. */
  readonly incomplete: boolean;
}

const MAX_DEPTH = 10;
const MAX_COMMANDS = 600;
const MAX_SCRIPTS = 300;
const MAX_PIPELINES = 300;
/** Of each program in a pipeline's text. */
const MAX_PROGRAM_CHARS = 4000;
/** What bash sets by itself; only running would tell. */
const COMPUTED =
  "? $ ! - _ # RANDOM SECONDS BASHPID UID EUID LINENO BASH_VERSION OSTYPE HOSTTYPE MACHTYPE SHLVL REPLY OPTARG".split(
    " ",
  );

export function normaliseShell(command: string, facts: ShellFacts): NormalisedShell {
  const run = new Analysis(facts);
  run.script(command, run.newScope(facts.cwd, []), 0);
  return {
    commands: run.commands,
    pipelines: run.pipelines,
    scripts: run.scripts,
    incomplete: run.incomplete,
  };
}

interface Scope {
  cwd: string;
  readonly variables: Variables;
}

interface Judged {
  /** The commands that really run, on one line. */
  readonly line: string;
  /** What it prints, where that can be told. */
  readonly output: string | null;
}

interface Stage {
  readonly words: readonly Field[];
  readonly redirects: readonly Redirect[];
  readonly input: string | null;
  /** Pipelines whose output it is given as `<(…)` or `$(…)`. */
  readonly fed: readonly string[];
}

class Analysis {
  readonly commands: SimpleCommand[] = [];
  readonly pipelines: string[] = [];
  readonly scripts: string[] = [];
  incomplete = false;
  readonly #facts: ShellFacts;

  constructor(facts: ShellFacts) {
    this.#facts = facts;
  }

  newScope(cwd: string, args: readonly string[]): Scope {
    const variables: Variables = new Map(Object.entries(this.#facts.env));
    for (const name of COMPUTED) variables.set(name, null);
    variables.set("PWD", cwd).set("HOME", this.#facts.userHome).set("BASH", "/bin/bash");
    variables.set("PPID", String(this.#facts.pid)).set("0", args[0] ?? "bash");
    args.slice(1).forEach((value, index) => variables.set(String(index + 1), value));
    const rest = args.slice(1).join(" ");
    variables.set("@", rest).set("*", rest);
    return { cwd, variables };
  }

  /** Judges a script and everything in it. */
  script(source: string, scope: Scope, depth: number): Judged {
    if (depth > MAX_DEPTH || this.scripts.length > MAX_SCRIPTS) {
      this.incomplete = true;
      return { line: "", output: null };
    }
    this.scripts.push(source.replace(/\s+/g, " ").trim());
    // Inside a function `$1` is whatever its caller says.
    if (/\(\s*\)|\bfunction\s/.test(source))
      for (const name of "123456789@*") scope.variables.set(name, null);
    const judged: Judged[] = [];
    for (const pipeline of splitPipelines(lexShell(source))) {
      if (this.commands.length > MAX_COMMANDS) {
        this.incomplete = true;
        break;
      }
      judged.push(this.#pipeline(pipeline, scope, depth));
    }
    const outputs = judged.map((one) => one.output);
    return {
      line: judged.map((one) => one.line).join(" ; "),
      output: outputs.includes(null) ? null : outputs.join(""),
    };
  }

  #pipeline(stages: readonly (readonly Token[])[], scope: Scope, depth: number): Judged {
    let stdin: string | null = null;
    const programs: string[] = [];
    for (const tokens of stages) {
      const stage = this.#stage(tokens, scope, depth);
      if (!stage) {
        stdin = "";
        continue;
      }
      const given: string | null = stage.input ?? stdin;
      const program = this.#command(stage, scope, depth, given);
      for (const fed of stage.fed) this.#addPipeline([fed, program]);
      programs.push(program);
      stdin = outputOf(stage, given);
    }
    if (programs.length > 1) this.#addPipeline(programs);
    return { line: programs.join(" | ").slice(0, MAX_PROGRAM_CHARS), output: stdin };
  }

  #addPipeline(programs: readonly string[]): void {
    if (this.pipelines.length >= MAX_PIPELINES) this.incomplete = true;
    else this.pipelines.push(programs.map((text) => text.slice(0, MAX_PROGRAM_CHARS)).join(" | "));
  }

  /** A substitution runs in a subshell: what it changes is forgotten. */
  #substitute(source: string, scope: Scope, depth: number): Judged {
    const inner: Scope = { cwd: scope.cwd, variables: new Map(scope.variables) };
    return this.script(source, inner, depth + 1);
  }

  #stage(tokens: readonly Token[], scope: Scope, depth: number): Stage | null {
    const fed: string[] = [];
    const context: ExpandContext = {
      variables: scope.variables,
      userHome: this.#facts.userHome,
      substitute: (source) => {
        const judged = this.#substitute(source, scope, depth);
        fed.push(judged.line);
        return judged.output;
      },
      enter: (source) => void fed.push(this.#substitute(source, scope, depth).line),
    };
    const words = stripReserved(
      tokens.filter((token) => token.type === "word").map((token) => token.word),
    );
    const rest = this.#assign(words, scope, context);
    const fields = rest.flatMap((word) => expandWord(word, context));
    const { redirects, input } = this.#redirects(tokens, scope, context);
    if (fields.length === 0 && redirects.length === 0) return null;
    return { words: fields, redirects, input, fed };
  }

  /** Takes leading `NAME=value` words; they last when no command follows. */
  #assign(words: readonly Word[], scope: Scope, context: ExpandContext): readonly Word[] {
    const loop = loopOf(words);
    if (loop) {
      const values = loop.values.flatMap((word) => expandWord(word, context));
      const unknown = values.length === 0 || values.some((field) => field.unknown);
      scope.variables.set(loop.name, unknown ? null : values.map((field) => field.text).join(" "));
      return [];
    }
    const count = words.findIndex((word) => !assignmentOf(word));
    const assignments = count === -1 ? words : words.slice(0, count);
    for (const word of assignments) setVariable(word, scope, context);
    return count === -1 ? [] : words.slice(count);
  }

  #redirects(
    tokens: readonly Token[],
    scope: Scope,
    context: ExpandContext,
  ): { redirects: readonly Redirect[]; input: string | null } {
    const redirects: Redirect[] = [];
    let input: string | null = null;
    for (const token of tokens) {
      if (token.type !== "redirect") continue;
      const field = expandText(token.target, context);
      if (token.op === "<<" || token.op === "<<<") input = field.unknown ? null : `${field.text}\n`;
      else
        redirects.push({
          op: token.op,
          target: field.text,
          path: resolvePath(scope.cwd, field.text),
        });
    }
    return { redirects, input };
  }

  /** Returns the text of what really runs: of `sudo bash` it is `bash`. */
  #command(stage: Stage, scope: Scope, depth: number, stdin: string | null): string {
    const texts = stage.words.map((field) => field.text);
    const words = [programName(texts[0] ?? ""), ...texts.slice(1)];
    const command = this.#emit(words, stage, scope);
    if (depth > MAX_DEPTH || this.commands.length > MAX_COMMANDS) {
      this.incomplete = true;
      return command.text;
    }
    this.#effects(words, stage.words, scope);
    let program = command.text;
    for (const inner of innerOf(words))
      program = this.#inner(inner, words, stage, scope, depth, stdin) ?? program;
    return program;
  }

  #emit(words: readonly string[], stage: Stage, scope: Scope): SimpleCommand {
    const redirected = (path: (redirect: Redirect) => string): readonly string[] =>
      stage.redirects.map(
        (redirect) => `${redirect.op.replace(/^[&\d]*/, "") || redirect.op} ${path(redirect)}`,
      );
    const join = (parts: readonly string[]): string => parts.join(" ").replace(/\s+/g, " ").trim();
    const command: SimpleCommand = {
      words,
      redirects: stage.redirects,
      text: join([...words.map(tidyPath), ...redirected((redirect) => tidyPath(redirect.target))]),
      resolved: join([
        ...words.map((word, index) => (index === 0 ? word : absolute(scope.cwd, word))),
        ...redirected((redirect) => redirect.path),
      ]),
      input: stage.input ?? "",
      cwd: scope.cwd,
      unreadable: stage.words[0]?.unknown === true || stage.words[0]?.glob === true,
      globs: new Set(stage.words.filter((field) => field.glob).map((field) => field.text)),
    };
    this.commands.push(command);
    return command;
  }

  /** Returns the text of the command that really runs, for pipelines (`… | sudo bash` is `… | bash`). */
  #inner(
    inner: Inner,
    words: readonly string[],
    stage: Stage,
    scope: Scope,
    depth: number,
    stdin: string | null,
  ): string | null {
    switch (inner.kind) {
      case "words": {
        // xargs adds what it reads.
        const extra =
          words[0] === "xargs" && stdin !== null ? stdin.split(/\s+/).filter(Boolean) : [];
        const fields = [...inner.words, ...extra].map((text) => ({
          ...fieldOf(stage, text),
          text,
        }));
        return this.#command({ ...stage, words: fields, redirects: [] }, scope, depth + 1, stdin);
      }
      case "script": {
        const child = words[0] === "eval" ? scope : this.newScope(scope.cwd, inner.args);
        this.script(inner.source, child, depth + 1);
        return null;
      }
      case "stdin-script":
        if (stdin !== null) this.script(stdin, this.newScope(scope.cwd, []), depth + 1);
        return null;
      case "code":
        this.#code(inner.source, scope, depth);
        return null;
      case "stdin-code":
        if (stdin !== null) this.#code(stdin, scope, depth);
        return null;
      default:
        return inner satisfies never;
    }
  }

  #code(source: string, scope: Scope, depth: number): void {
    for (const text of commandsInCode(source))
      this.script(text, this.newScope(scope.cwd, []), depth + 1);
  }

  /** What a builtin changes for the commands after it. */
  #effects(words: readonly string[], fields: readonly Field[], scope: Scope): void {
    const [name = "", ...args] = words;
    switch (name) {
      case "cd":
      case "pushd": {
        const target = args.find((arg) => !arg.startsWith("-"));
        if (!fields.some((field) => field.unknown))
          scope.cwd = resolvePath(scope.cwd, target ?? this.#facts.userHome);
        scope.variables.set("PWD", scope.cwd);
        return;
      }
      case "export":
      case "declare":
      case "local":
      case "typeset":
      case "readonly":
        for (const arg of args) {
          const match = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(arg);
          if (match)
            scope.variables.set(
              match[1] ?? "",
              fields.some((field) => field.unknown) ? null : (match[2] ?? ""),
            );
        }
        return;
      case "read":
      case "mapfile":
      case "readarray":
      case "getopts":
        for (const arg of args) if (/^[A-Za-z_]\w*$/.test(arg)) scope.variables.set(arg, null);
        return;
      case "unset":
        for (const arg of args) scope.variables.delete(arg);
        return;
      case "set":
        if (args[0] === "--")
          args.slice(1).forEach((value, index) => scope.variables.set(String(index + 1), value));
        if (args[0] === "--")
          scope.variables.set("@", args.slice(1).join(" ")).set("*", args.slice(1).join(" "));
        return;
      case "printf":
        if (args[0] === "-v" && args[1] !== undefined)
          scope.variables.set(args[1], staticOutput(["printf", ...args.slice(2)], null));
        return;
      default:
    }
  }
}

function outputOf(stage: Stage, stdin: string | null): string | null {
  if (stage.words.some((field) => field.unknown)) return null;
  return staticOutput(
    stage.words.map((field) => field.text),
    stdin,
  );
}

function fieldOf(stage: Stage, text: string): Field {
  return stage.words.find((field) => field.text === text) ?? { text, glob: false, unknown: false };
}

function setVariable(word: Word, scope: Scope, context: ExpandContext): void {
  const assignment = assignmentOf(word);
  if (!assignment) return;
  const { text, unknown } = expandText(assignment.value, context);
  const old = assignment.appends ? (scope.variables.get(assignment.name) ?? "") : "";
  scope.variables.set(assignment.name, unknown ? null : old + text);
}
