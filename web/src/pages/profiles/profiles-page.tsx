// The agents of this home: cards with their gateway's state, and what can be done with each (dashboard.md §12.3).
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ProfileBody } from "#protocol/http-status.ts";
import { profilesQuery } from "../../api/service-queries.ts";
import { showProfile } from "../../app/profile-switch.tsx";
import { STATE_LOOK } from "../../app/service-states.ts";
import { profile as shownProfile } from "../../app/services.ts";
import { useWords } from "../../i18n/i18n.tsx";
import { Icon } from "../../parts/icons.tsx";
import { Page } from "../../parts/page.tsx";
import { QueryView } from "../../parts/states.tsx";
import { CreateProfile } from "./create-profile.tsx";
import { ProfileMenu, type ProfileDialog } from "./profile-menu.tsx";
import { RemoveProfile } from "./remove-profile.tsx";
import { RenameProfile } from "./rename-profile.tsx";
import { SoulEditor } from "./soul-editor.tsx";

function isShown({ name, active }: ProfileBody): boolean {
  return shownProfile === null ? active : shownProfile === name;
}

function Card(props: {
  readonly profile: ProfileBody;
  readonly onOpen: (dialog: ProfileDialog) => void;
}) {
  const { t } = useWords();
  const { profile } = props;
  const look = STATE_LOOK[profile.gateway];
  const shown = isShown(profile);
  return (
    <li data-testid={`profile-${profile.name}`} className="card grid gap-2 p-4">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="min-w-0 text-base font-semibold break-all">{profile.name}</h2>
        {profile.active && <span className="badge">{t.profiles.active}</span>}
        {shown && <span className="badge border-success">{t.profiles.shown}</span>}
        <span className="ms-auto">
          <ProfileMenu profile={profile} onOpen={props.onOpen} />
        </span>
      </div>
      <p className="flex flex-wrap gap-x-4 gap-y-1 text-sm text-muted-foreground">
        <span>
          {t.profiles.model}: {profile.model ?? t.profiles.noModel}
        </span>
        <span>{t.profiles.skills(profile.skill_count)}</span>
        {profile.has_env && <span>{t.profiles.keys}</span>}
      </p>
      <p className="flex items-center gap-1.5 text-sm">
        {t.profiles.gateway}:
        <span className={`flex items-center gap-1.5 ${look.tone}`}>
          <Icon name={look.icon} size={15} />
          {t.status.states[profile.gateway]}
        </span>
      </p>
      <code className="text-xs break-all text-muted-foreground">{profile.path}</code>
      {!shown && (
        <div>
          <button
            type="button"
            className="button button-plain"
            aria-label={`${t.profiles.show}: ${profile.name}`}
            onClick={() => showProfile(profile.name)}
          >
            {t.profiles.show}
          </button>
        </div>
      )}
    </li>
  );
}

function OpenDialog(props: {
  readonly dialog: ProfileDialog;
  readonly names: readonly string[];
  readonly onClose: () => void;
}) {
  const { dialog, onClose } = props;
  switch (dialog.kind) {
    case "create":
      return <CreateProfile from={dialog.from} names={props.names} onClose={onClose} />;
    case "rename":
      return <RenameProfile name={dialog.name} onClose={onClose} />;
    case "remove":
      return <RemoveProfile name={dialog.name} onClose={onClose} />;
    case "soul":
      return <SoulEditor name={dialog.name} onClose={onClose} />;
  }
}

export function ProfilesPage() {
  const { t } = useWords();
  const profiles = useQuery(profilesQuery);
  const [dialog, setDialog] = useState<ProfileDialog | null>(null);
  const names = (profiles.data?.profiles ?? []).map(({ name }) => name);
  return (
    <Page
      title={t.profiles.title}
      actions={
        <button
          type="button"
          className="button button-primary"
          onClick={() => setDialog({ kind: "create", from: null })}
        >
          <Icon name="plus" size={16} />
          {t.profiles.create}
        </button>
      }
    >
      <p className="text-muted-foreground">{t.profiles.lead}</p>
      <QueryView query={profiles}>
        {(data) => (
          <ul className="grid gap-3 lg:grid-cols-2">
            {data.profiles.map((profile) => (
              <Card key={profile.name} profile={profile} onOpen={setDialog} />
            ))}
          </ul>
        )}
      </QueryView>
      {dialog !== null && (
        <OpenDialog dialog={dialog} names={names} onClose={() => setDialog(null)} />
      )}
    </Page>
  );
}
