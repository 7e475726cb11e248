import assert from "node:assert/strict";
import { test } from "node:test";
import * as z from "zod/mini";
import { VARIABLES } from "./env.ts";
import { CATEGORY_ORDER, section } from "./leaf.ts";
import { configDefaults } from "./defaults.ts";
import { getAt } from "./plain.ts";
import { renderConfigReference, renderEnvReference } from "./reference.ts";
import { configFormSchema } from "./schema.ts";
import { describeTree, leavesOf, nodeAt, treeRoot, type TreeNode } from "./shape.ts";
import { configTree } from "./tree.ts";

const leaves = [...leavesOf()];
const shown = leaves.filter(({ node }) => node.meta.hidden !== true);
const keyOf = (leaf: (typeof leaves)[number]): string => leaf.path.join(".");

test("every setting has a description and a category of the list", () => {
  const walk = (node: TreeNode, path: string): void => {
    if (node.kind === "section") {
      for (const [key, child] of node.children) walk(child, `${path}.${key}`);
      return;
    }
    assert.ok(node.meta.description.length >= 8, `${path} has no description`);
    assert.ok(CATEGORY_ORDER.includes(node.meta.category), path);
    if (node.kind === "map") walk(node.value, `${path}.<name>`);
  };
  walk(treeRoot(), "config");
  assert.ok(leaves.length > 150);
});

test("a setting that is in no registry does not get into the tree", () => {
  assert.throws(() => describeTree(section({ bare: z.string() })), /without a description/);
});

test("defaults are what the schema gives for nothing", () => {
  assert.deepEqual(configDefaults(), z.parse(configTree, {}));
  for (const { path, node } of leaves) {
    if (node.kind === "leaf" && node.fallback !== undefined) {
      assert.deepEqual(getAt(configDefaults(), path), node.fallback, path.join("."));
    }
  }
});

/** Read off the table of agent.md §2.2. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  _config_version: 100,
  "model.provider": "auto",
  "agent.max_turns": 90,
  "agent.api_max_retries": 3,
  "agent.max_parallel_tools": 8,
  "agent.reasoning_effort": "",
  "agent.restart_drain_timeout": 2,
  toolsets: ["hermes-cli"],
  "terminal.backend": "local",
  "terminal.max_timeout": 600,
  "approvals.mode": "manual",
  "approvals.single_query_mode": "deny",
  "security.redact_secrets": true,
  "security.allow_private_urls": false,
  "compression.target_ratio": 0.2,
  "auxiliary.title_generation.timeout": 60,
  "memory.user_char_limit": 1375,
  "tool_loop_guardrails.hard_stop": "unattended",
  "platforms.telegram.enabled": "auto",
  "platforms.api_server.port": 8642,
  "platforms.webhook.port": 8644,
  "display.busy_input_mode": "interrupt",
  "sessions.max_resume_messages": 20_000,
  "database.journal_mode": "auto",
  "dashboard.trusted_proxies": null,
  "dashboard.oauth.portal_url": "https://portal.nousresearch.com",
  "dashboard.pty": true,
};

test("defaults of the specification", () => {
  for (const [key, value] of Object.entries(SAMPLES)) {
    assert.deepEqual(getAt(configDefaults(), key.split(".")), value, key);
  }
});

test("access, approvals, binds, backend and dashboard login are guarded; nothing else of the agent is", () => {
  const guarded = (key: string): boolean => {
    const node = nodeAt(key.split("."));
    return node !== null && node.kind !== "section" && node.meta.guard === true;
  };
  for (const leaf of leaves) {
    const key = keyOf(leaf);
    if (key.startsWith("approvals.")) assert.ok(guarded(key), key);
    const isAccess = /^platforms\..*\.(enabled|allowed_users|host|port|cors_origins)$/.test(key);
    if (isAccess) assert.ok(guarded(key), key);
    const isGate =
      /^dashboard\.(oauth|basic_auth|session|public_url|base_path|trusted_proxies|allowed_hosts|cors_origins|csp)/;
    if (isGate.test(key) && !key.endsWith("id_token_leeway")) assert.ok(guarded(key), key);
    if (/^(agent|memory|display|model|web)\./.test(key)) assert.ok(!guarded(key), key);
  }
  assert.ok(guarded("terminal.backend"));
  assert.ok(!guarded("dashboard.theme"));
});

test("the form has every shown leaf in order, and the model as one name", () => {
  const { fields, category_order } = configFormSchema();
  const names = Object.keys(fields);
  const expected = shown.map(keyOf).filter((key) => !key.startsWith("model."));
  assert.deepEqual(names, ["model", "model_context_length", ...expected]);
  assert.deepEqual(fields["model_context_length"]?.type, "number");
  assert.deepEqual(fields["approvals.mode"], {
    type: "select",
    description: fields["approvals.mode"]?.description,
    category: "security",
    options: ["manual", "deny", "off"],
  });
  assert.deepEqual(fields["platforms.telegram.enabled"]?.options, ["auto", "true", "false"]);
  const types = ["toolsets", "providers", "timezone", "cron.enabled", "compression.threshold"];
  assert.deepEqual(
    types.map((key) => fields[key]?.type),
    ["list", "object", "string", "boolean", "number"],
  );
  assert.equal("_config_version" in fields, false);
  assert.deepEqual([...category_order].slice(0, 10), [
    "general",
    "agent",
    "terminal",
    "display",
    "memory",
    "compression",
    "security",
    "gateway",
    "logging",
    "auxiliary",
  ]);
});

test("the pages name every setting and every variable once", () => {
  const config = renderConfigReference();
  for (const leaf of shown) {
    const row = `| \`${keyOf(leaf)}\` |`;
    assert.equal(config.split(row).length, 2, row);
  }
  const environment = renderEnvReference();
  for (const { name } of VARIABLES) {
    assert.equal(environment.split(`| \`${name}\` |`).length, 2, name);
  }
});

test("the table of variables is sound", () => {
  const names = VARIABLES.map((variable) => variable.name);
  assert.equal(new Set(names).size, names.length);
  for (const variable of VARIABLES) {
    if (variable.sets === null) continue;
    const node = nodeAt(variable.sets.split("."));
    assert.equal(node?.kind, "leaf", `${variable.name} sets ${variable.sets}`);
    const isSecretLeaf = node?.kind === "leaf" && node.meta.secret === true;
    assert.equal(variable.secret, isSecretLeaf, variable.name);
  }
});
