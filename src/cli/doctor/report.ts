// Shape of a doctor's report (agent.md §1.5, §11.1).

export interface DoctorItem {
  /** `off`: not there and not missed: nobody asked for it, or its first use makes it. */
  readonly level: "ok" | "off" | "warning" | "error";
  /** Stable upper-case word. */
  readonly code: string;
  readonly message: string;
  /** The way out; null when there is nothing to do. */
  readonly fix: string | null;
}

export interface DoctorSection {
  readonly id: string;
  readonly title: string;
  readonly items: readonly DoctorItem[];
}

export interface DoctorReport {
  readonly sections: readonly DoctorSection[];
  readonly counts: { readonly ok: number; readonly warning: number; readonly error: number };
}

export function ok(code: string, message: string): DoctorItem {
  return { level: "ok", code, message, fix: null };
}

export function off(code: string, message: string): DoctorItem {
  return { level: "off", code, message, fix: null };
}

export function warning(code: string, message: string, fix: string | null = null): DoctorItem {
  return { level: "warning", code, message, fix };
}

export function error(code: string, message: string, fix: string | null = null): DoctorItem {
  return { level: "error", code, message, fix };
}

export function makeReport(sections: readonly DoctorSection[]): DoctorReport {
  const items = sections.flatMap((section) => section.items);
  const count = (level: DoctorItem["level"]): number =>
    items.filter((item) => item.level === level).length;
  return {
    sections,
    counts: { ok: count("ok"), warning: count("warning"), error: count("error") },
  };
}
