// Which profile the page shows, above the navigation. Alone with the default one there is nothing to choose.
import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { profilesQuery } from "../api/service-queries.ts";
import { useWords } from "../i18n/i18n.tsx";
import { client, profile } from "./services.ts";

/** Another profile is another page: nothing of the last one stays in memory. */
export function showProfile(name: string): void {
  location.assign(client.href("/chat", { profile: name }));
}

export default function ProfileSwitch() {
  const { t } = useWords();
  const id = useId();
  const query = useQuery(profilesQuery);
  const rows = query.data?.profiles ?? [];
  if (query.data === undefined || (rows.length < 2 && profile === null)) return null;
  const shown = rows.find((row) => (profile === null ? row.active : row.name === profile));
  return (
    <div className="grid gap-1" data-testid="profile-switch">
      <label htmlFor={id} className="px-2.5 text-xs font-semibold text-muted-foreground">
        {t.profiles.switcher}
      </label>
      <select
        id={id}
        className="input text-sm"
        value={shown?.name ?? ""}
        onChange={(event) => showProfile(event.target.value)}
      >
        {shown === undefined && <option value="">{profile}</option>}
        {rows.map((row) => (
          <option key={row.name} value={row.name}>
            {row.name}
          </option>
        ))}
      </select>
      {shown === undefined && profile !== null && (
        <p role="alert" className="px-2.5 text-sm text-destructive">
          {t.profiles.gone(profile)}{" "}
          <a className="underline" href={client.href("/chat", { profile: "default" })}>
            {t.profiles.toDefault}
          </a>
        </p>
      )}
    </div>
  );
}
