// Themes: which there are, which is used, and what is wrong with the user's own files (dashboard.md §12.5).
import { useQuery } from "@tanstack/react-query";
import type { ThemeProblemsBody } from "#protocol/theme.ts";
import { themeProblemsQuery, themesQuery } from "../api/queries.ts";
import { SYSTEM, useThemeChoice } from "../app/theme.ts";
import { useThemes } from "../app/themes.ts";
import { useWords } from "../i18n/i18n.tsx";
import { Icon } from "../parts/icons.tsx";
import { Page } from "../parts/page.tsx";
import { QueryView } from "../parts/states.tsx";

function ThemeCard(props: {
  readonly name: string;
  readonly description: string;
  readonly isOwn: boolean;
}) {
  const { t } = useWords();
  const { labelOf, choose } = useThemes();
  const { name, description, isOwn } = props;
  const label = labelOf(name);
  const isUsed = useThemeChoice() === name;
  return (
    <li
      className="card flex flex-wrap items-center gap-x-3 gap-y-1 p-4"
      data-testid={`theme-${name}`}
    >
      <div className="min-w-0 flex-1">
        <p className="font-semibold break-words">
          {label}
          {isOwn && <span className="ms-2 text-xs text-muted-foreground">{t.themes.own}</span>}
        </p>
        {description !== "" && (
          <p className="text-sm break-words text-muted-foreground">{description}</p>
        )}
      </div>
      {isUsed ? (
        <span className="flex items-center gap-1.5 text-sm font-semibold text-success">
          <Icon name="check" size={16} />
          {t.themes.inUse}
        </span>
      ) : (
        <button
          type="button"
          className="button button-plain"
          aria-label={t.themes.useOf(label)}
          onClick={() => choose(name)}
        >
          {t.themes.use}
        </button>
      )}
    </li>
  );
}

function Problems({ problems }: { readonly problems: ThemeProblemsBody }) {
  const { t } = useWords();
  const groups = [
    {
      title: t.themes.broken,
      rows: problems.broken.map(({ file, message }) => ({ what: file, message })),
    },
    {
      title: t.themes.warnings,
      rows: problems.warnings.map(({ theme, message }) => ({ what: theme, message })),
    },
  ].filter(({ rows }) => rows.length > 0);
  return groups.map(({ title, rows }) => (
    <section key={title} className="grid gap-2" data-testid="theme-problems">
      <h2 className="font-semibold">{title}</h2>
      <ul className="card divide-y text-sm">
        {rows.map(({ what, message }, index) => (
          <li key={index} className="flex flex-wrap gap-x-3 p-3">
            <code className="break-all">{what}</code>
            <span className="min-w-0 break-words text-muted-foreground">{message}</span>
          </li>
        ))}
      </ul>
    </section>
  ));
}

export function ThemesPage() {
  const { t } = useWords();
  const themes = useQuery(themesQuery);
  const problems = useQuery(themeProblemsQuery);
  return (
    <Page title={t.themes.title}>
      <p className="text-muted-foreground">{t.themes.lead}</p>
      <QueryView query={themes} isEmpty={() => false} empty={null}>
        {(data) => (
          <ul className="grid gap-3 sm:grid-cols-2">
            {[...data.themes, { name: SYSTEM, description: "", definition: undefined }].map(
              ({ name, description, definition }) => (
                <ThemeCard
                  key={name}
                  name={name}
                  description={description}
                  isOwn={definition !== undefined}
                />
              ),
            )}
          </ul>
        )}
      </QueryView>
      {problems.data && <Problems problems={problems.data} />}
      <p className="text-sm text-muted-foreground">{t.themes.ownHint}</p>
    </Page>
  );
}
