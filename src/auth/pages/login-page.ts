// GET /login: how to sign in, without a line of script (dashboard.md §6.1).
import { href } from "../prefix.ts";
import { nextQuery, type SafeRedirect } from "../next.ts";
import type { LoginProvider } from "../providers/provider.ts";
import { escapeHtml, type Frame, type PageFacts, renderFrame } from "./frame.ts";
import { LOGIN_ERRORS, type LoginError, type PageWords } from "./words.ts";

export interface LoginPageFacts extends PageFacts {
  readonly prefix: string;
  readonly providers: readonly Pick<LoginProvider, "kind" | "name" | "displayName">[];
  readonly next: SafeRedirect | null;
  /** The visitor must prove themselves again. */
  readonly fresh: boolean;
  readonly error: LoginError | null;
  readonly loggedOut: boolean;
  /** `state` of a native app's login that the password form is for; null: the browser itself. */
  readonly native: string | null;
  /** No login is needed: local mode. */
  readonly local: boolean;
}

export function loginErrorOf(text: string | null): LoginError | null {
  return LOGIN_ERRORS.find((word) => word === text) ?? null;
}

export function loginPage(facts: LoginPageFacts): string {
  return renderFrame(facts, (words) => {
    if (facts.local) return localFrame(words, facts);
    return facts.providers.length === 0 ? emptyFrame(words) : chooserFrame(words, facts);
  });
}

function localFrame(words: PageWords, { prefix }: LoginPageFacts): Frame {
  const link = `<a class="provider-btn" href="${escapeHtml(href(prefix, "/"))}">${words.open}</a>`;
  return { title: words.localTitle, body: `<p>${words.local}</p>${link}` };
}

function emptyFrame(words: PageWords): Frame {
  const ways = words.noneWays.map((way) => `<li>${way}</li>`).join("");
  const body = `<p>${words.none}</p><ul>${ways}</ul><p class="soft">${words.noneDocs}</p>`;
  return { title: words.noneTitle, body };
}

function chooserFrame(words: PageWords, facts: LoginPageFacts): Frame {
  const links = facts.providers.filter(({ kind }) => kind === "redirect");
  const forms = facts.providers.filter(({ kind }) => kind === "password");
  const body = [
    notice(words, facts),
    ...links.map((provider) => providerLink(words, provider, facts)),
    ...forms.map((provider, at) =>
      section(provider, facts.providers.length > 1, passwordForm(words, provider, facts, at)),
    ),
  ];
  return { title: words.title, body: body.join("\n") };
}

function notice(words: PageWords, { error, loggedOut }: LoginPageFacts): string {
  if (error === "reauth") return `<p class="note" role="status">${words.errors.reauth}</p>`;
  if (error !== null) return `<p class="note bad" role="alert">${words.errors[error]}</p>`;
  return loggedOut ? `<p class="note" role="status">${words.loggedOut}</p>` : "";
}

export interface Choice {
  readonly label: string;
  readonly url: string;
}

/** Which of several providers, for a native app. */
export function chooserPage(facts: PageFacts & { readonly links: readonly Choice[] }): string {
  return renderFrame(facts, (words) => ({
    title: words.title,
    body: facts.links
      .map(({ label, url }) => {
        const text = escapeHtml(words.signInWith(label));
        return `<a class="provider-btn" href="${escapeHtml(url)}">${text}</a>`;
      })
      .join("\n"),
  }));
}

type Shown = LoginPageFacts["providers"][number];

/** The ampersands stay raw: no character reference starts with what follows them. */
function providerLink(words: PageWords, provider: Shown, facts: LoginPageFacts): string {
  const name = encodeURIComponent(provider.name);
  const fresh = facts.fresh ? "&fresh=1" : "";
  const next = escapeHtml(nextQuery(facts.next, "&").slice(1));
  const target = `${escapeHtml(href(facts.prefix, "/auth/login"))}?provider=${name}`;
  const url = `${target}${next === "" ? "" : `&${next}`}${fresh}`;
  const label = escapeHtml(words.signInWith(provider.displayName));
  return `<a class="provider-btn" href="${url}">${label}</a>`;
}

function hidden(name: string, value: string): string {
  return `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`;
}

/** Named where there is something to tell it apart from; alone, the page's heading says it all. */
function section({ name, displayName }: Shown, isNamed: boolean, form: string): string {
  if (!isNamed) return `<section>\n${form}\n</section>`;
  const id = `with-${escapeHtml(name)}`;
  const heading = `<h2 id="${id}">${escapeHtml(displayName)}</h2>`;
  return `<section aria-labelledby="${id}">\n${heading}\n${form}\n</section>`;
}

function passwordForm(
  words: PageWords,
  provider: Shown,
  { prefix, next, error, native }: LoginPageFacts,
  at: number,
): string {
  const action = escapeHtml(href(prefix, "/auth/password-login"));
  const described = error === "invalid" ? ' aria-invalid="true"' : "";
  const focus = at === 0 ? " autofocus" : "";
  const app = native === null ? "" : hidden("native", native);
  return `<form method="post" action="${action}">
${hidden("provider", provider.name)}
${hidden("next", next ?? "")}${app}
<label>${words.username}<input name="username" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="256" required${focus}${described}></label>
<label>${words.password}<input name="password" type="password" autocomplete="current-password" maxlength="1024" required${described}></label>
<button type="submit">${words.signIn}</button>
</form>
<p class="soft">${words.forgotten}</p>`;
}
