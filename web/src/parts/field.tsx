// A labelled control with its hint and its error tied to it.
import { useId, type ReactNode } from "react";

export interface FieldProps {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean | undefined;
}

export function Field(props: {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly error?: string | null;
  readonly children: (field: FieldProps) => ReactNode;
}) {
  const id = useId();
  const note = `${id}-note`;
  const hasError = props.error != null;
  const hasHint = props.hint != null && props.hint !== "";
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="text-sm font-semibold">
        {props.label}
      </label>
      {props.children({
        id,
        "aria-describedby": hasError || hasHint ? note : undefined,
        "aria-invalid": hasError ? true : undefined,
      })}
      {(hasError || hasHint) && (
        <p
          id={note}
          className={`text-xs ${hasError ? "text-destructive" : "text-muted-foreground"}`}
        >
          {hasError ? props.error : props.hint}
        </p>
      )}
    </div>
  );
}
