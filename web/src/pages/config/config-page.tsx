// Settings: the form, or the file itself.
import { useState } from "react";
import { useWords } from "../../i18n/i18n.tsx";
import { Page } from "../../parts/page.tsx";
import { ConfigForm } from "./config-form.tsx";
import { RawConfig } from "./raw-config.tsx";

export function ConfigPage() {
  const { t } = useWords();
  const [view, setView] = useState<"form" | "raw">("form");
  return (
    <Page
      title={t.config.title}
      wide
      actions={
        <div role="group" aria-label={t.config.title} className="flex gap-1">
          {(["form", "raw"] as const).map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={view === name}
              className={`button ${view === name ? "button-primary" : "button-plain"}`}
              onClick={() => setView(name)}
            >
              {t.config[name]}
            </button>
          ))}
        </div>
      }
    >
      {view === "form" ? <ConfigForm /> : <RawConfig />}
    </Page>
  );
}
