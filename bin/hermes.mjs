#!/usr/bin/env node
// The launcher (agent.md §1.1): only what must happen before anything else is loaded. A Node of any age parses this file.

const NEEDS_MAJOR = 24;

// Global options, so that the first word that is none of them can be found. A test compares them with src/cli/registry.ts.
const VALUE_OPTIONS = [
  "-p",
  "--profile",
  "--in",
  "-m",
  "--model",
  "--provider",
  "--reasoning",
  "-t",
  "--toolsets",
  "-r",
  "--resume",
  "-z",
  "--oneshot",
  "--usage-file",
];
const FLAG_OPTIONS = [
  "--json",
  "-c",
  "--continue",
  "--no-restore-cwd",
  "--yolo",
  "--safe-mode",
  "--tui",
  "--cli",
];
const ROOT_STEPS = ["prepare", "repair-owner"];
const ON_WORDS = ["1", "true", "TRUE", "True", "yes", "YES", "Yes"];

function launch() {
  const major = parseInt(process.versions.node, 10);
  if (major < NEEDS_MAJOR) {
    return fail(
      78,
      "hermes needs Node " +
        NEEDS_MAJOR +
        " or newer; this is " +
        process.version +
        " (" +
        process.execPath +
        '). Use "npm start", "npm run hermes -- …" or the container image.',
    );
  }
  const tools = {
    fs: process.getBuiltinModule("fs"),
    path: process.getBuiltinModule("path"),
    os: process.getBuiltinModule("os"),
  };
  const project = tools.path.dirname(import.meta.dirname);
  // Node's warnings never reach stderr; whoever opens the log takes this list over.
  const warnings = [];
  process.removeAllListeners("warning");
  process.on("warning", (warning) => warnings.push(warning));
  return start(tools, project, warnings);
}

async function start(tools, project, warnings) {
  const argv = process.argv.slice(2);
  const word = firstWord(argv);
  if (word === "--version" || word === "-V" || word === "version") {
    if (!asksForHelp(argv)) return printVersion(tools, project, argv);
  }
  if (word === "help" || asksForHelp(argv)) {
    const text = await helpFor(tools, project, argv);
    if (text !== null) return print(text);
  }
  // Setup is root until it has done what only root can do, and then drops by itself.
  const isSetup = word === "container" && ROOT_STEPS.includes(argv[argv.indexOf("container") + 1]);
  if (!isSetup && !dropRoot(tools, project)) return undefined;
  const profile = takeProfile(argv);
  if (profile.missing) return fail(64, "hermes: -p needs the name of a profile.");
  const resolved = resolveHome(tools, isSetup ? "default" : profile.name);
  if (resolved === null) return undefined;
  const { home, isProfileGiven } = resolved;
  process.env.HERMES_HOME = home;
  keepCompiled(tools, project);
  const pack = packOf(tools, project, word, argv);
  const { main } =
    pack === null
      ? await import(moduleUrl(tools, project, "main.js", "src/cli/main.ts"))
      : process.getBuiltinModule("module").createRequire(import.meta.url)(pack);
  return main({ argv: profile.rest, env: process.env, project, home, isProfileGiven, warnings });
}

/**
 * V8's compiled form of the bundle lies beside it: in the image made at build time, elsewhere by the first runs. Never in a
 * folder that other users could write: what lies there is run.
 */
function keepCompiled(tools, project) {
  const folder = tools.path.join(project, "dist", "compiled");
  if (!runsFromSource(tools, tools.path.join(project, "dist", "main.js"))) {
    process.getBuiltinModule("module").enableCompileCache(folder);
  }
}

/** The one file of all that this start loads (scripts/packs.ts), for the commands that have one. */
function packOf(tools, project, word, argv) {
  const name = packName(word, argv[argv.indexOf(word) + 1]);
  const file = tools.path.join(project, "dist", "packs", name + ".cjs");
  return name === null || runsFromSource(tools, file) ? null : file;
}

function packName(word, next) {
  switch (word) {
    case "dashboard":
    case "web":
      return "dashboard";
    case "slot-run":
      return next === "dashboard" ? "dashboard" : "gateway";
    case "gateway":
      return next === "run" ? "gateway" : null;
    case "container":
      return next === "prepare" ? "setup" : null;
    case "probe":
    case "status":
      return word;
    default:
      return null;
  }
}

/** The built file, or its source by type stripping: where dist/ is missing, and under --conditions=hermes-source. */
function moduleUrl(tools, project, built, source) {
  const file = tools.path.join(project, "dist", built);
  const chosen = runsFromSource(tools, file) ? tools.path.join(project, source) : file;
  return process.getBuiltinModule("url").pathToFileURL(chosen).href;
}

function runsFromSource(tools, file) {
  return process.execArgv.includes("--conditions=hermes-source") || !tools.fs.existsSync(file);
}

function firstWord(argv) {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index];
    if (VALUE_OPTIONS.includes(word)) index += 1;
    else if (!FLAG_OPTIONS.includes(word) && !isGlobalWithValue(word)) return word;
  }
  return undefined;
}

function isGlobalWithValue(word) {
  return (
    word.startsWith("--") &&
    word.includes("=") &&
    VALUE_OPTIONS.concat(FLAG_OPTIONS).includes(word.split("=")[0])
  );
}

function beforeBareDashes(argv) {
  const end = argv.indexOf("--");
  return end === -1 ? argv : argv.slice(0, end);
}

function asksForHelp(argv) {
  return beforeBareDashes(argv).some((word) => word === "--help" || word === "-h");
}

/** Three lines, or with --json one object (agent.md §1.1, §1.5). */
async function printVersion(tools, project, argv) {
  const release = await readRelease(tools, project);
  const commit = readText(tools, tools.path.join(project, ".hermes_build_sha")).trim() || null;
  if (argv.includes("--json")) {
    return print(
      JSON.stringify({
        schema: 1,
        version: release.version,
        release_date: release.releaseDate,
        node: process.version,
        commit,
        project,
      }) + "\n",
    );
  }
  return print(
    "hermes " +
      release.version +
      " (" +
      release.releaseDate +
      ", " +
      (commit === null ? "unknown build" : commit) +
      ")\nnode " +
      process.version +
      "\nproject " +
      project +
      "\n",
  );
}

async function readRelease(tools, project) {
  const file = tools.path.join(project, "dist", "version.json");
  if (!runsFromSource(tools, file)) return JSON.parse(tools.fs.readFileSync(file, "utf8"));
  const { readVersion } = await import(
    moduleUrl(tools, project, "version.json", "src/cli/version.ts")
  );
  return readVersion(project);
}

/** null: the words are no command, or a value only looks like --help; the program itself says what is wrong. */
async function helpFor(tools, project, argv) {
  const table = await readHelp(tools, project);
  const words = beforeBareDashes(argv);
  const path = [];
  let asked = false;
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    const values = VALUE_OPTIONS.concat(table.values[path.join(" ")] || table.values.chat);
    if (values.includes(word)) index += 1;
    else if (word === "--help" || word === "-h" || (word === "help" && path.length === 0))
      asked = true;
    else if (!word.startsWith("-")) {
      const longer = path.concat(word);
      if (table.texts[longer.join(" ")] !== undefined) path.push(word);
      else if (path.length === 0 || words.includes("help")) return null;
    }
  }
  return asked ? table.texts[path.join(" ")] : null;
}

async function readHelp(tools, project) {
  const file = tools.path.join(project, "dist", "help.json");
  if (!runsFromSource(tools, file)) return JSON.parse(tools.fs.readFileSync(file, "utf8"));
  const { helpTable } = await import(
    moduleUrl(tools, project, "help.json", "src/cli/help-text.ts")
  );
  return helpTable();
}

/**
 * Root in the image goes on as hermes (product.md D20, container.md §10.2) by executing itself anew: setuid in place
 * would leave /dev/stdout and /proc/self closed. False when it failed; it does not return when it worked.
 */
function dropRoot(tools, project) {
  if (process.getuid() !== 0) return true;
  if (readText(tools, tools.path.join(project, ".install_method")).trim() !== "docker") return true;
  if (ON_WORDS.includes(process.env.HERMES_DOCKER_EXEC_AS_ROOT)) return true;
  const entry = readText(tools, "/etc/passwd")
    .split("\n")
    .map((line) => line.split(":"))
    .find((fields) => fields[0] === "hermes");
  const setuid = ["/usr/bin/s6-setuidgid", "/bin/s6-setuidgid"].find((file) =>
    tools.fs.existsSync(file),
  );
  if (!entry || !setuid) {
    fail(
      77,
      "hermes: cannot go on as the user hermes: " +
        (entry ? "s6-setuidgid is missing" : "/etc/passwd has no such user") +
        ". HERMES_DOCKER_EXEC_AS_ROOT=1 stays root, and leaves files of root in the data volume.",
    );
    return false;
  }
  giveTerminal(tools, Number(entry[2]), Number(entry[3]));
  const env = Object.assign({}, process.env, { HOME: entry[5] });
  const words = [setuid, "hermes", process.execPath].concat(
    process.execArgv,
    process.argv.slice(1),
  );
  process.execve(setuid, words, env);
  return false;
}

function giveTerminal(tools, uid, gid) {
  try {
    if (process.getBuiltinModule("tty").isatty(0)) tools.fs.fchownSync(0, uid, gid);
  } catch {
    // Without CAP_CHOWN the terminal stays root's; whatever needs to reopen it will say so.
  }
}

/** Takes `-p NAME` out of the words: anywhere before a bare `--`, but not behind `--args` of `mcp add`. */
function takeProfile(argv) {
  const rest = [];
  let name = null;
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index];
    const ends = word === "--" || (word === "--args" && rest[0] === "mcp" && rest[1] === "add");
    if (ends) return { name, rest: rest.concat(argv.slice(index)), missing: false };
    if (word === "-p" || word === "--profile") {
      index += 1;
      if (argv[index] === undefined) return { name, rest, missing: true };
      name = argv[index];
    } else if (word.startsWith("--profile=")) name = word.slice("--profile=".length);
    else rest.push(word);
  }
  return { name, rest, missing: name === "" };
}

/** The home of this run (agent.md §2.1, §8). null after saying which profiles there are: nothing is made. */
function resolveHome(tools, flag) {
  const given = process.env.HERMES_HOME
    ? tools.path.resolve(process.env.HERMES_HOME)
    : tools.path.join(tools.os.homedir(), ".hermes");
  const inProfile = tools.path.basename(tools.path.dirname(given)) === "profiles";
  const root = inProfile ? tools.path.dirname(tools.path.dirname(given)) : given;
  const isProfileGiven = flag !== null || inProfile;
  if (flag === null && inProfile) return { home: given, isProfileGiven };
  const wanted = flag === null ? readText(tools, tools.path.join(root, "active_profile")) : flag;
  const name = wanted.trim().toLowerCase() || "default";
  if (name === "default") return { home: root, isProfileGiven };
  if (isRealProfile(tools, root, name)) {
    return { home: tools.path.join(root, "profiles", name), isProfileGiven };
  }
  const names = ["default"].concat(listProfiles(tools, root));
  const source = flag === null ? " (active_profile in " + root + ")" : "";
  fail(
    66,
    'hermes: no profile "' +
      name +
      '"' +
      source +
      ". There are: " +
      names.join(", ") +
      ". Make one: hermes -p default profile create NAME",
  );
  return null;
}

function isRealProfile(tools, root, name) {
  return (
    /^[a-z0-9][a-z0-9_-]{0,63}$/.test(name) &&
    tools.fs.existsSync(tools.path.join(root, "profiles", name, "SOUL.md"))
  );
}

function listProfiles(tools, root) {
  try {
    const names = tools.fs.readdirSync(tools.path.join(root, "profiles"));
    return names.filter((name) => isRealProfile(tools, root, name)).sort();
  } catch {
    return [];
  }
}

function readText(tools, file) {
  try {
    return tools.fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function print(text) {
  process.stdout.on("error", (error) => process.exit(error.code === "EPIPE" ? 0 : 1));
  process.stdout.write(text);
}

function fail(code, sentence) {
  process.stderr.write(sentence + "\n");
  process.exitCode = code;
}

Promise.resolve(launch()).catch((error) => fail(1, "hermes: " + error.message));
