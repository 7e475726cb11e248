// First run: paste a key, use a local server, or try the demo. Saved only after one tiny request worked.
import { Link } from "@tanstack/react-router";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useId, useState, type ReactNode } from "react";
import type {
  DetectBody,
  LocalServerBody,
  SetupBody,
  SetupModelBody,
  SetupModelInput,
} from "#protocol/http-chat.ts";
import { ApiError } from "../../api/error.ts";
import { modelOptionsQuery, setupQuery } from "../../api/queries.ts";
import { announce } from "../../app/announce.ts";
import { client, queries } from "../../app/services.ts";
import type { Messages } from "../../i18n/en.ts";
import { useWords } from "../../i18n/i18n.tsx";
import { Field } from "../../parts/field.tsx";
import { Icon, type IconName } from "../../parts/icons.tsx";
import { Page } from "../../parts/page.tsx";
import { Failure, QueryView } from "../../parts/states.tsx";
import { guessProvider } from "./guess-provider.ts";

type Save = ReturnType<typeof useSave>;

/** Providers that a key can be pasted for, should the server's list not be there. */
const KNOWN = [
  { id: "openrouter", name: "OpenRouter" },
  { id: "openai", name: "OpenAI" },
  { id: "anthropic", name: "Anthropic" },
];
const WITHOUT_KEY = ["demo", "ollama", "lmstudio", "llamacpp", "custom"];
const KINDS = { ollama: "Ollama", lmstudio: "LM Studio", llamacpp: "llama.cpp" } as const;

function useSave() {
  return useMutation({
    mutationFn: (input: SetupModelInput) =>
      client.request<SetupModelBody>("POST", "/api/setup/model", { json: input }),
    onSuccess: () => {
      for (const key of ["setup", "models", "env", "config"]) {
        void queries.invalidateQueries({ queryKey: [key] });
      }
    },
  });
}

type Stage = keyof Messages["setup"]["stages"];

function stageOf(error: unknown, t: Messages): Stage | null {
  const stage = error instanceof ApiError ? error.body["stage"] : null;
  const known = Object.keys(t.setup.stages) as Stage[];
  return known.find((name) => name === stage) ?? null;
}

/** Which step of the test failed, in words, and what to do about it. */
function SaveFailure({ error }: { readonly error: unknown }) {
  const { t } = useWords();
  const stage = stageOf(error, t);
  if (stage === null) return <Failure error={error} />;
  return (
    <div
      role="alert"
      data-testid={`stage-${stage}`}
      className="card grid gap-1 border-destructive p-3"
    >
      <p className="flex items-center gap-2 font-semibold">
        <span className="text-destructive">
          <Icon name="error" />
        </span>
        {t.setup.stages[stage]}
      </p>
      <p className="text-sm">{error instanceof ApiError ? error.detail : ""}</p>
      <p className="text-sm text-muted-foreground">{t.setup.stageHelp[stage]}</p>
    </div>
  );
}

function Choice(props: {
  readonly icon: IconName;
  readonly title: string;
  readonly text: string;
  readonly children: ReactNode;
}) {
  const heading = useId();
  return (
    <section aria-labelledby={heading} className="card grid content-start gap-3 p-5">
      <span className="text-primary">
        <Icon name={props.icon} size={28} />
      </span>
      <h2 id={heading} className="text-lg font-semibold">
        {props.title}
      </h2>
      <p className="text-muted-foreground">{props.text}</p>
      {props.children}
    </section>
  );
}

function useProviders() {
  const options = useQuery(modelOptionsQuery);
  const listed = (options.data?.providers ?? []).filter(({ id }) => !WITHOUT_KEY.includes(id));
  return listed.length > 0 ? listed : KNOWN;
}

function KeyCard({ save, mine }: { readonly save: Save; readonly mine: boolean }) {
  const { t } = useWords();
  const providers = useProviders();
  const [key, setKey] = useState("");
  const [chosen, setChosen] = useState("");
  const [model, setModel] = useState("");
  const ids = providers.map(({ id }) => id);
  const guess = guessProvider(key, ids);
  const provider = chosen === "" ? (guess ?? "") : chosen;
  const guessed = providers.find(({ id }) => id === guess)?.name;
  const hint = key.trim() === "" ? null : guessed ? t.setup.keyGuess(guessed) : t.setup.keyNoGuess;
  return (
    <Choice icon="keys" title={t.setup.keyTitle} text={t.setup.keyText}>
      <form
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate({
            provider,
            api_key: key.trim(),
            ...(model.trim() !== "" && { model: model.trim() }),
          });
        }}
      >
        <Field label={t.setup.key} hint={hint}>
          {(field) => (
            <input
              {...field}
              className="input font-mono"
              type="password"
              autoComplete="off"
              spellCheck={false}
              required
              value={key}
              onChange={(event) => setKey(event.target.value)}
            />
          )}
        </Field>
        <Field label={t.setup.provider}>
          {(field) => (
            <select
              {...field}
              className="input"
              required
              value={provider}
              onChange={(event) => setChosen(event.target.value)}
            >
              <option value="">—</option>
              {providers.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={`${t.setup.model} (${t.common.optional})`} hint={t.setup.modelHint}>
          {(field) => (
            <input
              {...field}
              className="input"
              spellCheck={false}
              value={model}
              onChange={(event) => setModel(event.target.value)}
            />
          )}
        </Field>
        {mine && save.isError && <SaveFailure error={save.error} />}
        <button type="submit" className="button button-primary" disabled={save.isPending}>
          {mine && save.isPending ? t.setup.testing : t.setup.testAndSave}
        </button>
      </form>
    </Choice>
  );
}

function ServerRow(props: { readonly server: LocalServerBody; readonly save: Save }) {
  const { t } = useWords();
  const { server, save } = props;
  const [model, setModel] = useState(server.models[0] ?? "");
  return (
    <li className="grid gap-2 rounded-(--radius) border p-3" data-testid={`local-${server.kind}`}>
      <p className="font-semibold">{KINDS[server.kind]}</p>
      <p className="font-mono text-xs text-muted-foreground">{server.base_url}</p>
      {server.models.length === 0 ? (
        <p className="text-sm text-muted-foreground">{t.setup.noModels}</p>
      ) : (
        <div className="flex flex-wrap gap-2">
          <select
            aria-label={t.setup.model}
            className="input min-w-0 flex-1"
            value={model}
            onChange={(event) => setModel(event.target.value)}
          >
            {server.models.map((id) => (
              <option key={id}>{id}</option>
            ))}
          </select>
          <button
            type="button"
            className="button button-primary"
            disabled={save.isPending}
            onClick={() => save.mutate({ provider: server.kind, model, base_url: server.base_url })}
          >
            {t.setup.use}
          </button>
        </div>
      )}
    </li>
  );
}

function CustomServer({ save }: { readonly save: Save }) {
  const { t } = useWords();
  const [url, setUrl] = useState("");
  const [key, setKey] = useState("");
  const [model, setModel] = useState("");
  return (
    <details>
      <summary className="min-h-6 cursor-pointer text-sm">{t.setup.customProvider}</summary>
      <form
        className="grid gap-3 pt-3"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate({
            provider: "custom",
            base_url: url.trim(),
            ...(key.trim() !== "" && { api_key: key.trim() }),
            ...(model.trim() !== "" && { model: model.trim() }),
          });
        }}
      >
        <Field label={t.setup.baseUrl} hint={t.setup.baseUrlHint}>
          {(field) => (
            <input
              {...field}
              className="input font-mono"
              type="url"
              required
              value={url}
              onChange={(event) => setUrl(event.target.value)}
            />
          )}
        </Field>
        <Field label={`${t.setup.key} (${t.common.optional})`}>
          {(field) => (
            <input
              {...field}
              className="input font-mono"
              type="password"
              autoComplete="off"
              value={key}
              onChange={(event) => setKey(event.target.value)}
            />
          )}
        </Field>
        <Field label={t.setup.model}>
          {(field) => (
            <input
              {...field}
              className="input"
              value={model}
              onChange={(event) => setModel(event.target.value)}
            />
          )}
        </Field>
        <button type="submit" className="button button-plain" disabled={save.isPending}>
          {save.isPending ? t.setup.testing : t.setup.testAndSave}
        </button>
      </form>
    </details>
  );
}

function LocalCard(props: {
  readonly setup: SetupBody;
  readonly save: Save;
  readonly mine: boolean;
}) {
  const { t } = useWords();
  const { save } = props;
  const detect = useMutation({
    mutationFn: () => client.request<DetectBody>("POST", "/api/setup/detect", { json: {} }),
    onSuccess: ({ local_servers: found }) => {
      queries.setQueryData(setupQuery.queryKey, (old) => old && { ...old, local_servers: found });
      announce(found.length === 0 ? t.setup.localNone : found.map((s) => KINDS[s.kind]).join(", "));
    },
  });
  const servers = props.setup.local_servers;
  return (
    <Choice icon="server" title={t.setup.localTitle} text={t.setup.localText}>
      {servers.length === 0 ? (
        <p className="text-sm text-muted-foreground">{t.setup.localNone}</p>
      ) : (
        <ul className="grid gap-2">
          {servers.map((server) => (
            <ServerRow key={server.base_url} server={server} save={save} />
          ))}
        </ul>
      )}
      <button
        type="button"
        className="button button-plain"
        disabled={detect.isPending}
        onClick={() => detect.mutate()}
      >
        <Icon name="retry" size={16} />
        {detect.isPending ? t.setup.looking : t.setup.lookAgain}
      </button>
      {detect.isError && <Failure error={detect.error} />}
      <CustomServer save={save} />
      {props.mine && save.isError && <SaveFailure error={save.error} />}
    </Choice>
  );
}

function DemoCard({ save, mine }: { readonly save: Save; readonly mine: boolean }) {
  const { t } = useWords();
  return (
    <Choice icon="flask" title={t.setup.demoTitle} text={t.setup.demoText}>
      {mine && save.isError && <SaveFailure error={save.error} />}
      <button
        type="button"
        className="button button-plain"
        disabled={save.isPending}
        onClick={() => save.mutate({ provider: "demo" })}
      >
        {t.setup.demoUse}
      </button>
    </Choice>
  );
}

function Works({ saved }: { readonly saved: SetupModelBody }) {
  const { t, format } = useWords();
  return (
    <section role="status" data-testid="setup-done" className="card grid gap-2 border-success p-5">
      <h2 className="flex items-center gap-2 text-lg font-semibold">
        <span className="text-success">
          <Icon name="check" size={22} />
        </span>
        {t.setup.works}
      </h2>
      <p>
        {t.setup.worksText(
          saved.model,
          format.number(saved.context_window),
          format.duration(saved.latency_ms),
        )}
      </p>
      <p className="text-muted-foreground">{t.setup.firstMessage}</p>
      <div>
        <Link to="/chat" className="button button-primary">
          {t.setup.toChat}
        </Link>
      </div>
    </section>
  );
}

type Way = "key" | "local" | "demo";

/** Failures show in the card that asked. */
function wayOf(input: SetupModelInput | undefined): Way | null {
  if (!input) return null;
  if (input.provider === "demo") return "demo";
  return input.base_url === undefined ? "key" : "local";
}

export function SetupPage() {
  const { t } = useWords();
  const setup = useQuery(setupQuery);
  const save = useSave();
  const way = wayOf(save.variables);
  return (
    <Page title={t.setup.title} wide>
      {save.data ? (
        <Works saved={save.data} />
      ) : (
        <>
          <p className="max-w-2xl text-muted-foreground">{t.setup.lead}</p>
          <QueryView query={setup}>
            {(data) => (
              <>
                {data.model_ready && data.model !== null && (
                  <p className="flex flex-wrap items-center gap-3">
                    <span className="badge border-success text-success">
                      <Icon name="check" size={13} />
                      {t.setup.ready(data.model)}
                    </span>
                    <Link to="/chat" className="underline">
                      {t.setup.toChat}
                    </Link>
                  </p>
                )}
                <div className="grid items-start gap-4 lg:grid-cols-3">
                  <KeyCard save={save} mine={way === "key"} />
                  <LocalCard setup={data} save={save} mine={way === "local"} />
                  <DemoCard save={save} mine={way === "demo"} />
                </div>
              </>
            )}
          </QueryView>
        </>
      )}
    </Page>
  );
}
