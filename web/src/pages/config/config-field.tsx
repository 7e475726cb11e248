// One setting: its control by type, its default, and the way back to it.
import { useState } from "react";
import type { ConfigField } from "#protocol/http-config.ts";
import { useWords } from "../../i18n/i18n.tsx";
import { Field, type FieldProps } from "../../parts/field.tsx";
import { Icon } from "../../parts/icons.tsx";
import { fieldText, isSame, parseField, SECRET_SET } from "./values.ts";

interface ControlProps {
  readonly field: FieldProps;
  readonly schema: ConfigField;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly onProblem: (problem: "badJson" | "badNumber" | null) => void;
}

/** Text that is parsed as it is typed; while it is wrong the value stays and the problem shows. */
function TextControl(props: ControlProps) {
  const { t } = useWords();
  const { schema, value } = props;
  const secret = value === SECRET_SET;
  const shown = secret ? "" : fieldText(schema.type, value);
  const [text, setText] = useState(shown);
  const [typed, setTyped] = useState(false);
  const area = schema.type === "list" || schema.type === "object";
  function write(next: string): void {
    setText(next);
    setTyped(true);
    const parsed = parseField(schema.type, next);
    props.onProblem(parsed.ok ? null : parsed.problem);
    if (parsed.ok) props.onChange(parsed.value);
  }
  const common = {
    ...props.field,
    className: "input font-mono text-sm",
    spellCheck: false,
    value: typed ? text : shown,
    placeholder: secret ? t.config.secretSet : undefined,
    onChange: (event: { readonly target: { readonly value: string } }) => write(event.target.value),
    // What is written from outside (reset, discard) shows once the control is left.
    onBlur: () => setTyped(false),
  };
  if (area) return <textarea rows={Math.min(8, text.split("\n").length + 1)} {...common} />;
  return (
    <input type="text" inputMode={schema.type === "number" ? "decimal" : undefined} {...common} />
  );
}

function Control(props: ControlProps) {
  const { t } = useWords();
  const { field, schema, value, onChange } = props;
  if (schema.type === "boolean") {
    return (
      <select
        {...field}
        className="input"
        value={String(value === true)}
        onChange={(event) => onChange(event.target.value === "true")}
      >
        <option value="true">{t.common.on}</option>
        <option value="false">{t.common.off}</option>
      </select>
    );
  }
  if (schema.type === "select") {
    return (
      <select
        {...field}
        className="input"
        value={fieldText("select", value)}
        onChange={(event) => onChange(event.target.value)}
      >
        {(schema.options ?? []).map((option) => (
          <option key={option} value={option}>
            {option === "" ? "–" : option}
          </option>
        ))}
      </select>
    );
  }
  return <TextControl {...props} />;
}

export function ConfigFieldRow(props: {
  readonly path: string;
  readonly schema: ConfigField;
  readonly value: unknown;
  readonly standard: unknown;
  readonly isEdited: boolean;
  readonly onChange: (value: unknown) => void;
}) {
  const { t } = useWords();
  const { path, schema, value, standard } = props;
  const [problem, setProblem] = useState<"badJson" | "badNumber" | null>(null);
  const atDefault = isSame(value, standard) || standard === undefined;
  const text = fieldText(schema.type, standard);
  const hint =
    schema.type === "list"
      ? t.config.listHint
      : schema.type === "object"
        ? t.config.objectHint
        : "";
  return (
    <div className="grid gap-1 px-4 py-3" data-testid={`field-${path}`}>
      <Field
        label={
          <span className="flex flex-wrap items-center gap-2">
            <code className="font-mono break-all">{path}</code>
            {props.isEdited && (
              <span className="badge border-warning text-warning">{t.config.changed}</span>
            )}
            {!atDefault && !props.isEdited && <span className="badge">{t.config.notDefault}</span>}
          </span>
        }
        hint={[schema.description, hint].filter(Boolean).join(" · ")}
        error={problem === null ? null : t.config[problem]}
      >
        {(field) => (
          <Control
            field={field}
            schema={schema}
            value={value}
            onChange={props.onChange}
            onProblem={setProblem}
          />
        )}
      </Field>
      {!atDefault && (
        <p className="flex flex-wrap items-center gap-2 text-xs text-muted-foreground">
          <span className="max-w-80 truncate">
            {t.config.default(text === "" ? t.common.none : text)}
          </span>
          <button
            type="button"
            className="inline-flex min-h-6 items-center gap-1 underline"
            aria-label={`${t.config.reset}: ${path}`}
            onClick={() => {
              setProblem(null);
              props.onChange(standard);
            }}
          >
            <Icon name="undo" size={13} />
            {t.config.reset}
          </button>
        </p>
      )}
    </div>
  );
}
