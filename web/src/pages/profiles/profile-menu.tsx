// What can be done with one profile. The default one keeps its name and stays.
import { useMutation } from "@tanstack/react-query";
import { DropdownMenu } from "radix-ui";
import type { ProfileBody } from "#protocol/http-status.ts";
import { ApiError } from "../../api/error.ts";
import { client, queries } from "../../app/services.ts";
import { useWords } from "../../i18n/i18n.tsx";
import { Icon } from "../../parts/icons.tsx";
import { showToast } from "../../parts/toasts.tsx";

export type ProfileDialog =
  | { readonly kind: "create"; readonly from: string | null }
  | { readonly kind: "rename" | "remove" | "soul"; readonly name: string };

function useActivate(name: string) {
  const { t } = useWords();
  return useMutation({
    mutationFn: () => client.request("POST", "/api/profiles/active", { json: { name } }),
    onSuccess: () => {
      showToast(t.profiles.activeNow(name));
      return queries.invalidateQueries();
    },
    onError: (error) =>
      showToast(error instanceof ApiError ? error.detail : String(error), { tone: "error" }),
  });
}

export function ProfileMenu(props: {
  readonly profile: ProfileBody;
  readonly onOpen: (dialog: ProfileDialog) => void;
}) {
  const { t } = useWords();
  const { profile, onOpen } = props;
  const { name } = profile;
  const activate = useActivate(name);
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger
        className="icon-button"
        aria-label={t.profiles.actionsOf(name)}
        title={t.profiles.actionsOf(name)}
      >
        <Icon name="dots" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" sideOffset={4} align="end">
          {!profile.active && (
            <DropdownMenu.Item className="menu-item" onSelect={() => activate.mutate()}>
              {t.profiles.makeActive}
            </DropdownMenu.Item>
          )}
          <DropdownMenu.Item className="menu-item" onSelect={() => onOpen({ kind: "soul", name })}>
            {t.profiles.soul}
          </DropdownMenu.Item>
          <DropdownMenu.Item
            className="menu-item"
            onSelect={() => onOpen({ kind: "create", from: name })}
          >
            {t.profiles.clone}
          </DropdownMenu.Item>
          {!profile.is_default && (
            <>
              <DropdownMenu.Item
                className="menu-item"
                onSelect={() => onOpen({ kind: "rename", name })}
              >
                {t.profiles.rename}
              </DropdownMenu.Item>
              <DropdownMenu.Item
                className="menu-item text-destructive"
                onSelect={() => onOpen({ kind: "remove", name })}
              >
                {t.profiles.remove}
              </DropdownMenu.Item>
            </>
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
