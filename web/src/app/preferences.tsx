// Theme and language: two small menus.
import { DropdownMenu } from "radix-ui";
import { useWords } from "../i18n/i18n.tsx";
import { isLanguage, LANGUAGES } from "../i18n/language.ts";
import { Icon, type IconName } from "../parts/icons.tsx";
import { SYSTEM, useThemeChoice } from "./theme.ts";
import { useThemes } from "./themes.ts";

function ChoiceMenu<T extends string>(props: {
  readonly icon: IconName;
  readonly label: string;
  readonly value: T;
  readonly choices: readonly T[];
  readonly nameOf: (choice: T) => string;
  readonly onChoose: (choice: T) => void;
}) {
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger className="icon-button" aria-label={props.label} title={props.label}>
        <Icon name={props.icon} />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" sideOffset={4} align="start">
          <DropdownMenu.RadioGroup
            value={props.value}
            onValueChange={(value) => {
              const choice = props.choices.find((known) => known === value);
              if (choice !== undefined) props.onChoose(choice);
            }}
          >
            {props.choices.map((choice) => (
              <DropdownMenu.RadioItem key={choice} value={choice} className="menu-item">
                <span className="w-4">
                  <DropdownMenu.ItemIndicator>
                    <Icon name="check" size={16} />
                  </DropdownMenu.ItemIndicator>
                </span>
                <span lang={isLanguage(choice) ? choice : undefined}>{props.nameOf(choice)}</span>
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

export function Preferences() {
  const { t, language, setLanguage } = useWords();
  const theme = useThemeChoice();
  const { themes, labelOf, choose } = useThemes();
  return (
    <div className="flex gap-1">
      <ChoiceMenu
        icon="sun"
        label={t.app.theme}
        value={theme}
        choices={[...themes.map(({ name }) => name), SYSTEM]}
        nameOf={labelOf}
        onChoose={choose}
      />
      <ChoiceMenu
        icon="globe"
        label={t.app.language}
        value={language}
        choices={LANGUAGES}
        nameOf={(choice) => t.app.languages[choice]}
        onChoose={setLanguage}
      />
    </div>
  );
}
