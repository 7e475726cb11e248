// The model in use, the choice of another, helper models, and what each one used.
import { Link } from "@tanstack/react-router";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type {
  AuxiliaryModelsBody,
  ModelCapabilities,
  ModelInfoBody,
  ModelOptionsBody,
  SetModelBody,
  SetModelInput,
} from "#protocol/http-config.ts";
import type { ModelUsageBody } from "#protocol/http-sessions.ts";
import {
  auxiliaryQuery,
  modelInfoQuery,
  modelOptionsQuery,
  modelUsageQuery,
} from "../api/queries.ts";
import { client, queries } from "../app/services.ts";
import { useWords } from "../i18n/i18n.tsx";
import { Field } from "../parts/field.tsx";
import { Icon } from "../parts/icons.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, Failure, QueryView } from "../parts/states.tsx";
import { showToast } from "../parts/toasts.tsx";

type Provider = ModelOptionsBody["providers"][number];

function useSetModel() {
  const { t } = useWords();
  return useMutation({
    mutationFn: (json: SetModelInput) =>
      client.request<SetModelBody>("POST", "/api/model/set", { json }),
    onSuccess: async () => {
      showToast(t.models.saved);
      for (const key of ["models", "setup", "config"]) {
        await queries.invalidateQueries({ queryKey: [key] });
      }
    },
  });
}

function hasCapabilities(value: ModelInfoBody["capabilities"]): value is ModelCapabilities {
  return "supports_tools" in value;
}

function Ability({ on, name }: { readonly on: boolean; readonly name: string }) {
  const { t } = useWords();
  return (
    <span className={`badge ${on ? "border-success text-success" : ""}`}>
      <Icon name={on ? "check" : "close"} size={13} />
      {name}
      <span className="sr-only">: {on ? t.common.yes : t.common.no}</span>
    </span>
  );
}

function Current({ info }: { readonly info: ModelInfoBody }) {
  const { t, format } = useWords();
  const { capabilities: able } = info;
  return (
    <section className="card grid gap-3 p-5" data-testid="current-model">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <h2 className="text-sm font-semibold text-muted-foreground">{t.models.current}</h2>
        <p className="text-lg font-semibold break-all">{info.model}</p>
        <p className="text-muted-foreground">{info.provider}</p>
        {info.provider === "demo" && (
          <span className="badge border-warning text-warning">{t.chat.demoBadge}</span>
        )}
      </div>
      <p>
        {t.models.window}: {format.number(info.effective_context_length)}
        {info.config_context_length > 0 &&
          ` (${t.models.configured(format.number(info.config_context_length))})`}
      </p>
      {hasCapabilities(able) && (
        <div className="flex flex-wrap gap-2">
          <Ability on={able.supports_tools} name={t.models.tools} />
          <Ability on={able.supports_vision} name={t.models.vision} />
          <Ability on={able.supports_reasoning} name={t.models.reasoning} />
          {able.max_output_tokens !== null && able.max_output_tokens > 0 && (
            <span className="badge">
              {t.models.output}: {format.compact(able.max_output_tokens)}
            </span>
          )}
        </div>
      )}
    </section>
  );
}

function OtherModel(props: { readonly provider: string; readonly onUse: (id: string) => void }) {
  const { t } = useWords();
  const [id, setId] = useState("");
  return (
    <form
      className="flex gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (id.trim() !== "") props.onUse(id.trim());
      }}
    >
      <input
        className="input font-mono"
        aria-label={t.models.otherModel}
        placeholder={t.models.otherModel}
        value={id}
        onChange={(event) => setId(event.target.value)}
      />
      <button type="submit" className="button button-plain">
        {t.models.useModel}
      </button>
    </form>
  );
}

function ProviderModels(props: {
  readonly provider: Provider;
  readonly filter: string;
  readonly info: ModelInfoBody | undefined;
  readonly busy: boolean;
  readonly onUse: (id: string) => void;
}) {
  const { t, format } = useWords();
  const { provider, info } = props;
  const text = props.filter.toLowerCase();
  const models = provider.models.filter(({ id }) => id.toLowerCase().includes(text));
  return (
    <div className="grid gap-3">
      {provider.models.length === 0 && (
        <p className="text-sm text-muted-foreground">{t.models.noneKnown}</p>
      )}
      <ul className="max-h-96 divide-y overflow-y-auto">
        {models.map((model) => {
          const current = info?.model === model.id && info.provider === provider.id;
          return (
            <li key={model.id} className="flex items-center gap-3 py-1">
              <code className="min-w-0 flex-1 font-mono text-sm break-all">{model.id}</code>
              {model.context_window !== null && (
                <span className="text-xs text-muted-foreground" title={t.models.window}>
                  {format.compact(model.context_window)}
                </span>
              )}
              {current ? (
                <span className="badge border-success text-success">{t.models.inUse}</span>
              ) : (
                <button
                  type="button"
                  className="button button-plain"
                  aria-label={`${t.models.useModel}: ${model.id}`}
                  disabled={props.busy}
                  onClick={() => props.onUse(model.id)}
                >
                  {t.models.useModel}
                </button>
              )}
            </li>
          );
        })}
      </ul>
      {provider.id !== "demo" && <OtherModel provider={provider.id} onUse={props.onUse} />}
    </div>
  );
}

function Picker({ info }: { readonly info: ModelInfoBody | undefined }) {
  const { t } = useWords();
  const options = useQuery(modelOptionsQuery);
  const set = useSetModel();
  const [filter, setFilter] = useState("");
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <section className="card grid gap-3 p-5" aria-label={t.models.choose}>
      <h2 className="text-lg font-semibold">{t.models.choose}</h2>
      <QueryView query={options}>
        {({ providers }) => {
          const usable = providers.find(({ id }) => id === (chosen ?? info?.provider));
          const provider = usable ?? providers.find((entry) => entry.configured) ?? providers[0];
          if (!provider) return <Empty icon="models" title={t.models.nothing} />;
          return (
            <>
              <div className="grid gap-3 sm:grid-cols-2">
                <Field label={t.models.provider}>
                  {(field) => (
                    <select
                      {...field}
                      className="input"
                      value={provider.id}
                      onChange={(event) => setChosen(event.target.value)}
                    >
                      {providers.map((entry) => (
                        <option key={entry.id} value={entry.id}>
                          {entry.name}
                          {entry.missing === null ? "" : ` (${t.models.missing[entry.missing]})`}
                        </option>
                      ))}
                    </select>
                  )}
                </Field>
                <Field label={t.models.filter}>
                  {(field) => (
                    <input
                      {...field}
                      className="input"
                      type="search"
                      value={filter}
                      onChange={(event) => setFilter(event.target.value)}
                    />
                  )}
                </Field>
              </div>
              {set.isError && <Failure error={set.error} />}
              {provider.configured ? (
                <ProviderModels
                  key={provider.id}
                  provider={provider}
                  filter={filter}
                  info={info}
                  busy={set.isPending}
                  onUse={(model) => set.mutate({ scope: "main", provider: provider.id, model })}
                />
              ) : (
                <p>
                  <Link to="/setup" className="button button-plain">
                    {t.chat.fixSetup}
                  </Link>
                </p>
              )}
            </>
          );
        }}
      </QueryView>
    </section>
  );
}

function AuxiliaryRow(props: { readonly task: AuxiliaryModelsBody["tasks"][number] }) {
  const { t } = useWords();
  const { task } = props;
  const set = useSetModel();
  const now = task.model === "" ? "" : `${task.provider}:${task.model}`;
  const [value, setValue] = useState(now);
  const name = t.models.tasks[task.task] ?? task.task;
  const [provider = "", ...rest] = value.split(":");
  return (
    <li className="grid gap-1 py-2">
      <form
        className="flex flex-wrap items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          const automatic = value.trim() === "";
          set.mutate({
            scope: "auxiliary",
            task: task.task,
            provider: automatic ? "auto" : rest.length === 0 ? "auto" : provider,
            model: automatic ? "" : rest.length === 0 ? provider : rest.join(":"),
          });
        }}
      >
        <div className="min-w-56 flex-1">
          <Field label={name}>
            {(field) => (
              <input
                {...field}
                className="input font-mono"
                placeholder={t.models.automatic}
                value={value}
                onChange={(event) => setValue(event.target.value)}
              />
            )}
          </Field>
        </div>
        <button
          type="submit"
          className="button button-plain"
          disabled={value === now || set.isPending}
        >
          {t.common.save}
        </button>
      </form>
      {set.isError && <Failure error={set.error} />}
    </li>
  );
}

function Auxiliary() {
  const { t } = useWords();
  const auxiliary = useQuery(auxiliaryQuery);
  const set = useSetModel();
  return (
    <section className="card grid gap-2 p-5" aria-label={t.models.auxiliary}>
      <h2 className="text-lg font-semibold">{t.models.auxiliary}</h2>
      <p className="text-sm text-muted-foreground">{t.models.auxiliaryText}</p>
      <QueryView query={auxiliary} rows={2}>
        {({ tasks }) => (
          <>
            <ul className="divide-y">
              {tasks.map((task) => (
                <AuxiliaryRow key={`${task.task}/${task.provider}/${task.model}`} task={task} />
              ))}
            </ul>
            <div>
              <button
                type="button"
                className="button button-ghost underline"
                onClick={() => set.mutate({ scope: "auxiliary", task: "__reset__" })}
              >
                {t.models.reset}
              </button>
            </div>
          </>
        )}
      </QueryView>
    </section>
  );
}

function UsageTable({ usage }: { readonly usage: ModelUsageBody }) {
  const { t, format } = useWords();
  const head = [
    t.setup.model,
    t.analytics.sessions,
    t.analytics.input,
    t.analytics.output,
    t.analytics.cost,
  ];
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={t.models.usage}>
      <table className="w-full text-sm tabular-nums">
        <thead>
          <tr className="text-start text-muted-foreground">
            {head.map((name) => (
              <th key={name} scope="col" className="p-1.5 text-start font-semibold">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y">
          {usage.models.map((row) => (
            <tr key={`${row.provider}/${row.model}`}>
              <th scope="row" className="p-1.5 text-start font-mono font-normal break-all">
                {row.model}
              </th>
              <td className="p-1.5">{format.number(row.sessions)}</td>
              <td className="p-1.5">{format.compact(row.input_tokens)}</td>
              <td className="p-1.5">{format.compact(row.output_tokens)}</td>
              <td className="p-1.5">
                {row.estimated_cost === null ? "–" : format.money(row.estimated_cost)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function ModelsPage() {
  const { t } = useWords();
  const info = useQuery(modelInfoQuery);
  const usage = useQuery(modelUsageQuery);
  return (
    <Page
      title={t.models.title}
      actions={
        <Link to="/setup" className="button button-plain">
          {t.chat.fixSetup}
        </Link>
      }
    >
      <QueryView
        query={info}
        rows={1}
        isEmpty={(data) => data.model === ""}
        empty={
          <Empty icon="models" title={t.models.nothing}>
            <p>{t.models.nothingText}</p>
            <Link to="/setup" className="button button-primary mt-2">
              {t.chat.fixSetup}
            </Link>
          </Empty>
        }
      >
        {(data) => <Current info={data} />}
      </QueryView>
      <Picker info={info.data} />
      <Auxiliary />
      <section className="card grid gap-2 p-5">
        <h2 className="text-lg font-semibold">{t.models.usage}</h2>
        <QueryView
          query={usage}
          rows={2}
          isEmpty={(data) => data.models.length === 0}
          empty={<p className="text-muted-foreground">{t.analytics.empty}</p>}
        >
          {(data) => <UsageTable usage={data} />}
        </QueryView>
      </section>
    </Page>
  );
}
