// Secrets and variables of the profile: set or not, from where; replaced and removed here, never shown.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { EnvBody, EnvEntry } from "#protocol/http-config.ts";
import { ApiError } from "../api/error.ts";
import { envQuery } from "../api/queries.ts";
import { client, queries } from "../app/services.ts";
import { useWords } from "../i18n/i18n.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { Icon } from "../parts/icons.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, Failure, QueryView } from "../parts/states.tsx";
import { showToast } from "../parts/toasts.tsx";

function fresh(): Promise<void[]> {
  const keys = ["env", "models", "setup"];
  return Promise.all(keys.map((key) => queries.invalidateQueries({ queryKey: [key] })));
}

function EditDialog(props: {
  /** null: the user names it. */
  readonly name: string | null;
  readonly entry: EnvEntry | null;
  readonly onClose: () => void;
}) {
  const { t } = useWords();
  const [name, setName] = useState(props.name ?? "");
  const [value, setValue] = useState("");
  const save = useMutation({
    mutationFn: () => client.request("PUT", "/api/env", { json: { key: name, value } }),
    onSuccess: async () => {
      await fresh();
      showToast(t.keys.savedName(name));
      props.onClose();
    },
  });
  const error = save.error instanceof ApiError ? save.error.detail : null;
  const secret = props.entry?.is_password ?? true;
  return (
    <Dialog title={props.name ?? t.keys.addOther} onClose={props.onClose}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        {props.name === null && (
          <Field label={t.keys.name} hint={t.keys.nameRule}>
            {(field) => (
              <input
                {...field}
                className="input font-mono"
                required
                pattern="[A-Z][A-Z0-9_]*"
                value={name}
                onChange={(event) => setName(event.target.value.toUpperCase())}
              />
            )}
          </Field>
        )}
        <Field label={t.keys.value} hint={props.entry?.description} error={error}>
          {(field) => (
            <input
              {...field}
              className="input font-mono"
              type={secret ? "password" : "text"}
              autoComplete="off"
              spellCheck={false}
              required
              value={value}
              onChange={(event) => setValue(event.target.value)}
            />
          )}
        </Field>
        <div className="flex justify-end gap-2">
          <button type="button" className="button button-plain" onClick={props.onClose}>
            {t.common.cancel}
          </button>
          <button type="submit" className="button button-primary" disabled={save.isPending}>
            {t.common.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function RemoveDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const { t } = useWords();
  const remove = useMutation({
    mutationFn: () => client.request("DELETE", "/api/env", { json: { key: name } }),
    onSuccess: async () => {
      await fresh();
      showToast(t.keys.removed(name));
      onClose();
    },
  });
  return (
    <Dialog title={t.keys.confirmRemove(name)} onClose={onClose}>
      <p>{t.keys.confirmRemoveText}</p>
      {remove.isError && <Failure error={remove.error} />}
      <div className="flex justify-end gap-2">
        <button type="button" className="button button-plain" onClick={onClose}>
          {t.common.cancel}
        </button>
        <button
          type="button"
          className="button button-danger"
          disabled={remove.isPending}
          onClick={() => remove.mutate()}
        >
          {t.keys.remove}
        </button>
      </div>
    </Dialog>
  );
}

function KeyRow({ name, entry }: { readonly name: string; readonly entry: EnvEntry }) {
  const { t } = useWords();
  const [open, setOpen] = useState<"edit" | "remove" | null>(null);
  const readOnly = entry.source === "env" || entry.source === "file";
  return (
    <li
      className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5"
      data-testid={`env-${name}`}
    >
      <div className="grid min-w-48 flex-1 gap-0.5">
        <code className="font-mono text-sm font-semibold break-all">{name}</code>
        <p className="text-xs text-muted-foreground">
          {entry.description}
          {entry.url !== null && (
            <a
              href={entry.url}
              target="_blank"
              rel="noopener noreferrer"
              className="ms-2 whitespace-nowrap underline"
            >
              {t.keys.getOne}
            </a>
          )}
        </p>
      </div>
      <div className="text-end">
        {entry.is_set ? (
          <span className="badge border-success text-success">
            <Icon name="check" size={13} />
            {t.keys.set}
          </span>
        ) : (
          <span className="badge">{t.keys.unset}</span>
        )}
        {entry.is_set && (
          <p className="text-xs text-muted-foreground">
            <code>{entry.redacted_value}</code>{" "}
            {entry.source !== null && t.keys.sources[entry.source]}
          </p>
        )}
      </div>
      {!readOnly && (
        <div className="flex gap-1">
          <button
            type="button"
            className="button button-plain"
            aria-label={`${entry.is_set ? t.keys.replace : t.keys.add}: ${name}`}
            onClick={() => setOpen("edit")}
          >
            {entry.is_set ? t.keys.replace : t.keys.add}
          </button>
          {entry.is_set && (
            <button
              type="button"
              className="icon-button"
              aria-label={`${t.keys.remove}: ${name}`}
              onClick={() => setOpen("remove")}
            >
              <Icon name="trash" size={16} />
            </button>
          )}
        </div>
      )}
      {open === "edit" && <EditDialog name={name} entry={entry} onClose={() => setOpen(null)} />}
      {open === "remove" && <RemoveDialog name={name} onClose={() => setOpen(null)} />}
    </li>
  );
}

type Named = readonly [string, EnvEntry];

/** Groups by category, in the order in which the server lists them. */
function grouped(env: EnvBody, filter: string, advanced: boolean): Map<string, Named[]> {
  const groups = new Map<string, Named[]>();
  const text = filter.trim().toUpperCase();
  for (const [name, entry] of Object.entries(env)) {
    if (!name.includes(text)) continue;
    if (entry.advanced && !advanced && !entry.is_set && text === "") continue;
    const rows = groups.get(entry.category) ?? [];
    rows.push([name, entry]);
    groups.set(entry.category, rows);
  }
  return groups;
}

function Group({ category, rows }: { readonly category: string; readonly rows: readonly Named[] }) {
  const { t } = useWords();
  const heading = useId();
  return (
    <section aria-labelledby={heading} className="grid gap-2">
      <h2 id={heading} className="font-semibold">
        {t.keys.categories[category] ?? t.config.categories[category] ?? category}
      </h2>
      <ul className="card divide-y">
        {rows.map(([name, entry]) => (
          <KeyRow key={name} name={name} entry={entry} />
        ))}
      </ul>
    </section>
  );
}

export function KeysPage() {
  const { t } = useWords();
  const env = useQuery(envQuery);
  const [filter, setFilter] = useState("");
  const [advanced, setAdvanced] = useState(false);
  const [adding, setAdding] = useState(false);
  return (
    <Page
      title={t.keys.title}
      actions={
        <button type="button" className="button button-plain" onClick={() => setAdding(true)}>
          <Icon name="plus" size={16} />
          {t.keys.addOther}
        </button>
      }
    >
      <p className="text-muted-foreground">{t.keys.lead}</p>
      <div className="flex flex-wrap items-center gap-3">
        <input
          type="search"
          className="input min-w-48 flex-1"
          aria-label={t.keys.filter}
          placeholder={t.keys.filter}
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
        <label className="flex min-h-9 items-center gap-2">
          <input
            type="checkbox"
            className="size-5 accent-primary"
            checked={advanced}
            onChange={(event) => setAdvanced(event.target.checked)}
          />
          {t.keys.showAdvanced}
        </label>
      </div>
      <QueryView query={env}>
        {(data) => {
          const groups = [...grouped(data, filter, advanced)];
          if (groups.length === 0) return <Empty icon="keys" title={t.keys.empty} />;
          return groups.map(([category, rows]) => (
            <Group key={category} category={category} rows={rows} />
          ));
        }}
      </QueryView>
      {adding && <EditDialog name={null} entry={null} onClose={() => setAdding(false)} />}
    </Page>
  );
}
