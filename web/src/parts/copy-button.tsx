// Copies a text and says so.
import { useEffect, useState } from "react";
import { copyText } from "../app/plain-http.ts";
import { announce } from "../app/announce.ts";
import { useWords } from "../i18n/i18n.tsx";
import { Icon } from "./icons.tsx";

export function CopyButton({ text, label }: { readonly text: string; readonly label?: string }) {
  const { t } = useWords();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  async function copy(): Promise<void> {
    await copyText(text);
    setCopied(true);
    announce(t.common.copied);
  }
  const name = label ?? t.common.copy;
  return (
    <button
      type="button"
      className="icon-button size-7 min-h-7 min-w-7 pointer-coarse:size-11"
      aria-label={copied ? t.common.copied : name}
      title={name}
      onClick={() => void copy()}
    >
      <Icon name={copied ? "check" : "copy"} size={15} />
    </button>
  );
}
