// Pages that say what went wrong and offer one way on; never a redirect, so that no loop is possible (dashboard.md §6.2).
import { escapeHtml, type PageFacts, renderFrame } from "./frame.ts";
import type { LoginError } from "./words.ts";

export interface FailurePageFacts extends PageFacts {
  /** In English as it is, for whoever runs the agent: "OAuth state mismatch". */
  readonly detail: string;
  /** The sentence for the visitor. */
  readonly error: LoginError;
  /** Href of "Try again". */
  readonly again: string;
}

export function failurePage(facts: FailurePageFacts): string {
  return renderFrame(facts, (words) => ({
    title: words.failedTitle,
    body: `<p class="note bad" role="alert">${words.errors[facts.error]}</p>
<p class="soft" lang="en">${escapeHtml(facts.detail)}</p>
<a class="provider-btn" href="${escapeHtml(facts.again)}">${words.tryAgain}</a>`,
  }));
}

/** 503: signed in, but the provider does not confirm it. */
export function stalledPage(facts: PageFacts & { readonly again: string }): string {
  return renderFrame(facts, (words) => ({
    title: words.stalledTitle,
    body: `<p>${words.stalled}</p>
<a class="provider-btn" href="${escapeHtml(facts.again)}">${words.tryAgain}</a>`,
  }));
}

/** Signed in for an app on this machine. The browser goes there by itself; the link is for one that does not. */
export function backToAppPage(facts: PageFacts & { readonly url: string }): string {
  return renderFrame(facts, (words) => ({
    title: words.appTitle,
    body: `<p>${words.app}</p>
<a class="provider-btn" href="${escapeHtml(facts.url)}">${words.backToApp}</a>`,
  }));
}
