// Pages of docs/reference that the tree and the table of variables write themselves.
import { CATEGORY_ORDER, type Category } from "./leaf.ts";
import { VARIABLES, type EnvArea, type Variable } from "./env.ts";
import { leavesOf, type LeafAt } from "./shape.ts";

/** docs/reference/config.md. */
export function renderConfigReference(): string {
  const leaves = [...leavesOf()].filter((leaf) => leaf.node.meta.hidden !== true);
  const parts = CATEGORY_ORDER.map((category) => categoryPart(category, leaves));
  return [CONFIG_HEAD, ...parts].join("\n");
}

const CONFIG_HEAD = `# Settings

Generated from the tree in \`src/config/tree.ts\`; do not edit. Every key of \`config.yaml\` with its default. A wrong value of a
*guarded* key refuses the start (exit 78); of any other key the default is used and the key is named. *Restart* keys are read
when the service starts. A flag beats a variable, a variable beats the file, the file beats the default.
`;

function categoryPart(category: Category, leaves: readonly LeafAt[]): string {
  const rows = leaves
    .filter((leaf) => leaf.node.meta.category === category)
    .map((leaf) => `| ${configCells(leaf).map(cell).join(" | ")} |`);
  const head = `## ${category}\n\n| key | value | default | | variable | what it does |\n|---|---|---|---|---|---|`;
  return `${head}\n${rows.join("\n")}\n`;
}

function configCells({ path, node }: LeafAt): string[] {
  const key = path.join(".");
  const { meta } = node;
  const marks = [
    meta.guard ? "guarded" : "",
    meta.restart ? "restart" : "",
    meta.secret ? "secret" : "",
  ];
  const variables = VARIABLES.filter((variable) => variable.sets === key);
  return [
    `\`${key}\``,
    node.kind === "map" ? "a mapping" : node.expects,
    node.kind === "map" ? "`{}`" : `\`${JSON.stringify(node.fallback)}\``,
    marks.filter((mark) => mark !== "").join(", "),
    variables.map((variable) => `\`${variable.name}\``).join(", "),
    meta.description,
  ];
}

const AREAS: readonly (readonly [area: EnvArea, title: string])[] = [
  ["models", "Models and search"],
  ["agent", "Agent"],
  ["paths", "Paths"],
  ["chats", "Chat platforms"],
  ["dashboard", "Dashboard"],
  ["container", "Container"],
  ["usual", "The usual"],
];

/** docs/reference/environment.md. */
export function renderEnvReference(): string {
  return [ENV_HEAD, ...AREAS.map(([area, title]) => areaPart(area, title))].join("\n");
}

const ENV_HEAD = `# Environment variables

Generated from the table in \`src/config/env.ts\`; do not edit. The environment of the process beats \`.env\`; an empty variable
counts as unset. Switches are on with \`1\`, \`true\`, \`yes\`; off with \`0\`, \`false\`, \`no\`, \`off\` or nothing. Every *secret* can be read from a
file that \`<NAME>_FILE\` names. A named profile takes *per profile* variables from its own \`.env\` only.
`;

function areaPart(area: EnvArea, title: string): string {
  const rows = VARIABLES.filter((variable) => variable.area === area)
    .map((variable) => `| ${envCells(variable).map(cell).join(" | ")} |`)
    .join("\n");
  return `## ${title}\n\n| variable | setting | | what it is |\n|---|---|---|---|\n${rows}\n`;
}

function envCells(variable: Variable): string[] {
  const marks = [
    variable.secret ? "secret" : "",
    variable.perProfile ? "per profile" : "",
    variable.tier === 2 ? "later" : "",
  ];
  return [
    `\`${variable.name}\``,
    variable.sets === null ? "" : `\`${variable.sets}\``,
    marks.filter((mark) => mark !== "").join(", "),
    variable.description,
  ];
}

const cell = (text: string): string => text.replaceAll("|", "\\|");
