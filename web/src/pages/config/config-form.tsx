// All settings as a form: categories, search, unsaved changes, and what to do when somebody else saved first.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import type { ConfigBody, ConfigField, ConfigSchemaBody } from "#protocol/http-config.ts";
import type { Answer } from "../../api/client.ts";
import { ApiError } from "../../api/error.ts";
import { configDefaultsQuery, configQuery, configSchemaQuery } from "../../api/queries.ts";
import { client, queries } from "../../app/services.ts";
import { useWords } from "../../i18n/i18n.tsx";
import { Empty, Failure, QueryView } from "../../parts/states.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { ConfigFieldRow } from "./config-field.tsx";
import {
  defaultAt,
  edited,
  fieldText,
  valueAt,
  withEdits,
  withoutSaved,
  type Edits,
  type Tree,
} from "./values.ts";

interface SaveInput {
  readonly base: Tree;
  readonly etag: string | null;
  readonly edits: Edits;
}

function useSave(onSaved: (saved: Edits) => void) {
  const { t } = useWords();
  return useMutation({
    mutationFn: ({ base, etag, edits }: SaveInput) =>
      client.request("PUT", "/api/config", {
        json: { config: withEdits(base, edits) },
        headers: etag === null ? {} : { "If-Match": etag },
      }),
    onSuccess: async (_answer, { edits }) => {
      await queries.invalidateQueries({ queryKey: ["config"] });
      for (const key of ["models", "setup"]) void queries.invalidateQueries({ queryKey: [key] });
      onSaved(edits);
      showToast(t.common.saved);
    },
  });
}

/** Both sides of a conflict, and a decision. */
function Conflict(props: {
  readonly edits: Edits;
  readonly onTheirs: () => void;
  readonly onMine: (theirs: Answer<ConfigBody>) => void;
}) {
  const { t } = useWords();
  const theirs = useQuery({
    queryKey: ["config", "conflict"],
    queryFn: () => client.answer<ConfigBody>("GET", "/api/config"),
    gcTime: 0,
    staleTime: 0,
  });
  const show = (value: unknown) => fieldText("object", value) || t.common.none;
  return (
    <section role="alert" data-testid="conflict" className="card grid gap-3 border-warning p-4">
      <h2 className="font-semibold">{t.config.conflict}</h2>
      <p className="text-sm">{t.config.conflictText}</p>
      <QueryView query={theirs} rows={1}>
        {(answer) => (
          <>
            <table className="w-full text-sm">
              <thead>
                <tr className="text-muted-foreground">
                  <th scope="col" className="p-1 text-start">
                    {t.config.someDifferent}
                  </th>
                  <th scope="col" className="p-1 text-start">
                    {t.config.mine}
                  </th>
                  <th scope="col" className="p-1 text-start">
                    {t.config.theirs}
                  </th>
                </tr>
              </thead>
              <tbody>
                {Object.entries(props.edits).map(([path, value]) => (
                  <tr key={path} className="border-t align-top">
                    <th scope="row" className="p-1 text-start font-mono font-normal break-all">
                      {path}
                    </th>
                    <td className="p-1 font-mono break-all">{show(value)}</td>
                    <td className="p-1 font-mono break-all">{show(valueAt(answer.data, path))}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            <div className="flex flex-wrap gap-2">
              <button type="button" className="button button-plain" onClick={props.onTheirs}>
                {t.config.useTheirs}
              </button>
              <button
                type="button"
                className="button button-danger"
                onClick={() => props.onMine(answer)}
              >
                {t.config.useMine}
              </button>
            </div>
          </>
        )}
      </QueryView>
    </section>
  );
}

function found(schema: ConfigSchemaBody, category: string, search: string) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return Object.entries(schema.fields).filter(([path, field]) => {
    if (words.length === 0) return field.category === category;
    const text = `${path} ${field.description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function Categories(props: {
  readonly names: readonly string[];
  readonly current: string;
  readonly onChoose: (name: string) => void;
}) {
  const { t } = useWords();
  return (
    <nav aria-label={t.config.category} className="flex flex-wrap gap-1 md:grid md:content-start">
      {props.names.map((name) => (
        <button
          key={name}
          type="button"
          aria-current={name === props.current}
          className={`button justify-start ${name === props.current ? "bg-accent text-accent-foreground" : "button-ghost"}`}
          onClick={() => props.onChoose(name)}
        >
          {t.config.categories[name] ?? name}
        </button>
      ))}
    </nav>
  );
}

function useLeaveWarning(dirty: boolean): void {
  useEffect(() => {
    if (!dirty) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [dirty]);
}

function Form(props: {
  readonly stored: Answer<ConfigBody>;
  readonly schema: ConfigSchemaBody;
  readonly defaults: Tree;
}) {
  const { t } = useWords();
  const { stored, schema } = props;
  const [edits, setEdits] = useState<Edits>({});
  const latest = useRef(edits);
  latest.current = edits;
  const [search, setSearch] = useState("");
  const names = useMemo(() => categoriesOf(schema), [schema]);
  const [category, setCategory] = useState(names[0] ?? "");
  const [generation, setGeneration] = useState(0);
  const forget = () => {
    setEdits({});
    setGeneration((now) => now + 1);
  };
  const save = useSave((saved) => {
    // What was changed while the save was under way is not saved yet.
    const rest = withoutSaved(latest.current, saved);
    if (Object.keys(rest).length === 0) forget();
    else setEdits(rest);
  });
  const dirty = Object.keys(edits).length;
  useLeaveWarning(dirty > 0);
  const values = withEdits(stored.data, edits);
  const conflict = save.error instanceof ApiError && save.error.status === 412;
  const rows = found(schema, category, search);
  return (
    <div className="grid gap-4">
      <input
        type="search"
        className="input"
        aria-label={t.config.search}
        placeholder={t.config.search}
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      {conflict && (
        <Conflict
          edits={edits}
          onTheirs={() => {
            save.reset();
            forget();
            void queries.invalidateQueries({ queryKey: ["config"] });
          }}
          onMine={(theirs) => save.mutate({ base: theirs.data, etag: theirs.etag, edits })}
        />
      )}
      {save.isError && !conflict && <Failure error={save.error} />}
      <div className="grid gap-4 md:grid-cols-[11rem_1fr]">
        <Categories
          names={names}
          current={search.trim() === "" ? category : ""}
          onChoose={(name) => {
            setSearch("");
            setCategory(name);
          }}
        />
        {rows.length === 0 ? (
          <Empty icon="config" title={t.config.empty} />
        ) : (
          <div className="card min-w-0 divide-y" key={generation}>
            {rows.map(([path, field]: readonly [string, ConfigField]) => (
              <ConfigFieldRow
                key={path}
                path={path}
                schema={field}
                value={valueAt(values, path)}
                standard={defaultAt(props.defaults, path)}
                isEdited={path in edits}
                onChange={(value) => setEdits((now) => edited(now, stored.data, path, value))}
              />
            ))}
          </div>
        )}
      </div>
      {dirty > 0 && (
        <div className="menu sticky bottom-3 flex flex-wrap items-center gap-3 px-4 py-2.5">
          <span role="status">{t.config.unsaved(dirty)}</span>
          <span className="flex-1" />
          <button type="button" className="button button-plain" onClick={forget}>
            {t.config.discard}
          </button>
          <button
            type="button"
            className="button button-primary"
            disabled={save.isPending}
            onClick={() => save.mutate({ base: stored.data, etag: stored.etag, edits })}
          >
            {t.common.save}
          </button>
        </div>
      )}
    </div>
  );
}

function categoriesOf(schema: ConfigSchemaBody): readonly string[] {
  const used = new Set(Object.values(schema.fields).map((field) => field.category));
  const ordered = schema.category_order.filter((name) => used.delete(name));
  return [...ordered, ...used];
}

export function ConfigForm() {
  const stored = useQuery(configQuery);
  const schema = useQuery(configSchemaQuery);
  const defaults = useQuery(configDefaultsQuery);
  return (
    <QueryView query={stored} rows={6}>
      {(values) => (
        <QueryView query={schema} rows={6}>
          {(fields) => (
            <QueryView query={defaults} rows={6}>
              {(standard) => <Form stored={values} schema={fields} defaults={standard} />}
            </QueryView>
          )}
        </QueryView>
      )}
    </QueryView>
  );
}
