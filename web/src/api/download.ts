// A file from the API: fetched with the credential, handed to the browser as a download.
import { client } from "../app/services.ts";
import type { Query } from "./client.ts";

export async function download(path: string, query: Query, fileName: string): Promise<void> {
  const body = await client.request<unknown>("GET", path, { query, headers: { Accept: "*/*" } });
  saveText(typeof body === "string" ? body : JSON.stringify(body), fileName);
}

export function saveText(text: string, fileName: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName;
  link.click();
  // The browser reads the blob after the click returns.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
