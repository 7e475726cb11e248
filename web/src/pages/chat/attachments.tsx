// Files that go with the next message: pasted, dropped or picked; uploaded at once (dashboard.md §9.3).
import { useState } from "react";
import type { AttachmentBody } from "#protocol/http-chat.ts";
import { randomId } from "../../app/plain-http.ts";
import { ApiError } from "../../api/error.ts";
import { client } from "../../app/services.ts";
import { useWords } from "../../i18n/i18n.tsx";
import { Icon } from "../../parts/icons.tsx";
import { showToast } from "../../parts/toasts.tsx";

const MOST_BYTES = 25 * 1024 * 1024;

interface Attached {
  readonly key: string;
  readonly name: string;
  readonly size: number;
  /** null while it is uploaded. */
  readonly id: string | null;
}

export interface Attachments {
  readonly files: readonly Attached[];
  readonly ids: readonly string[];
  readonly uploading: boolean;
  readonly add: (files: Iterable<File>) => void;
  readonly remove: (key: string) => void;
  readonly clear: () => void;
}

function upload(file: File): Promise<AttachmentBody> {
  return client.request<AttachmentBody>("POST", "/api/chat/attachments", {
    body: file,
    headers: {
      "Content-Type": file.type === "" ? "application/octet-stream" : file.type,
      "X-File-Name": encodeURIComponent(file.name),
    },
  });
}

export function useAttachments(): Attachments {
  const { t } = useWords();
  const [files, setFiles] = useState<readonly Attached[]>([]);
  const remove = (key: string) => setFiles((now) => now.filter((file) => file.key !== key));

  async function addOne(file: File): Promise<void> {
    if (file.size > MOST_BYTES) {
      showToast(t.chat.tooLarge(file.name), { tone: "error" });
      return;
    }
    const key = randomId();
    setFiles((now) => [...now, { key, name: file.name, size: file.size, id: null }]);
    try {
      const { id } = await upload(file);
      setFiles((now) => now.map((known) => (known.key === key ? { ...known, id } : known)));
    } catch (error) {
      remove(key);
      showToast(error instanceof ApiError ? error.detail : String(error), { tone: "error" });
    }
  }

  return {
    files,
    ids: files.flatMap((file) => file.id ?? []),
    uploading: files.some((file) => file.id === null),
    add: (added) => {
      for (const file of added) void addOne(file);
    },
    remove,
    clear: () => setFiles([]),
  };
}

export function AttachmentList({ attachments }: { readonly attachments: Attachments }) {
  const { t, format } = useWords();
  if (attachments.files.length === 0) return null;
  return (
    <ul aria-label={t.chat.attachments} className="flex flex-wrap gap-2 px-2 pt-2">
      {attachments.files.map((file) => (
        <li key={file.key} className="badge py-1">
          <Icon name="file" size={14} />
          <span className="max-w-48 truncate">{file.name}</span>
          <span>{file.id === null ? t.chat.uploading : format.size(file.size)}</span>
          <button
            type="button"
            aria-label={t.chat.removeFile(file.name)}
            className="grid size-6 place-items-center"
            onClick={() => attachments.remove(file.key)}
          >
            <Icon name="close" size={13} />
          </button>
        </li>
      ))}
    </ul>
  );
}
