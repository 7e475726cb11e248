// The words of the pages that the server renders, in the languages of the browser app. `en` is the source of the keys.

export type PageLanguage = "en" | "zh-Hans";

/** Query `error=` of /login (dashboard.md §6.1). */
export const LOGIN_ERRORS = [
  "cookie",
  "expired",
  "denied",
  "failed",
  "invalid",
  "rate_limited",
  "reauth",
  "unreachable",
] as const;
export type LoginError = (typeof LOGIN_ERRORS)[number];

const en = {
  title: "Sign in",
  signInWith: (label: string) => `Sign in with ${label}`,
  username: "User name",
  password: "Password",
  signIn: "Sign in",
  forgotten:
    "Forgotten? Whoever runs this agent sets a new one with <code>hermes dashboard set-password</code>.",
  or: "or",
  loggedOut: "You are signed out.",
  localTitle: "No sign-in needed",
  local: "The login is off here: whoever can reach this dashboard can use it.",
  open: "Open the dashboard",
  noneTitle: "Sign-in unavailable",
  none: "No way to sign in is set up on this agent. Whoever runs it can:",
  noneWays: [
    "set a user name and password: <code>hermes dashboard set-password</code>",
    "connect an OAuth or OpenID Connect provider",
    "bind the dashboard to <code>127.0.0.1</code> and reach it through an SSH tunnel or a VPN",
  ],
  noneDocs: "The guide to signing in is in the documentation (docs/guides/sign-in.md).",
  errors: {
    cookie:
      "Your browser did not keep the sign-in. Allow cookies for this site; if you came over http, try https.",
    expired: "The sign-in took too long or was started in another browser. Please try again.",
    denied: "This account is not allowed to use this agent.",
    failed: "The sign-in did not work. Please try again.",
    invalid: "User name or password is wrong.",
    rate_limited: "Too many login attempts. Please wait a moment and try again.",
    reauth: "Please sign in again to confirm that it is you.",
    unreachable: "The sign-in service cannot be reached right now. Please try again later.",
  } satisfies Record<LoginError, string>,
  appTitle: "You are signed in",
  app: "The app takes it from here. You can close this page.",
  backToApp: "Back to the app",
  failedTitle: "Sign-in failed",
  tryAgain: "Try again",
  stalledTitle: "Sign-in service unreachable",
  stalled:
    "You are signed in, but the service that confirms it has not answered for a while. You stay signed in; this page works again when it is back.",
};

export type PageWords = typeof en;

const zhHans: PageWords = {
  title: "登录",
  signInWith: (label) => `使用 ${label} 登录`,
  username: "用户名",
  password: "密码",
  signIn: "登录",
  forgotten:
    "忘记密码？请由运行此代理的人使用 <code>hermes dashboard set-password</code> 重新设置。",
  or: "或",
  loggedOut: "您已退出登录。",
  localTitle: "无需登录",
  local: "此处已关闭登录：能访问此控制台的人都可以使用它。",
  open: "打开控制台",
  noneTitle: "无法登录",
  none: "此代理尚未设置任何登录方式。运行它的人可以：",
  noneWays: [
    "设置用户名和密码：<code>hermes dashboard set-password</code>",
    "接入 OAuth 或 OpenID Connect 提供方",
    "将控制台绑定到 <code>127.0.0.1</code>，通过 SSH 隧道或 VPN 访问",
  ],
  noneDocs: "登录指南见文档（docs/guides/sign-in.md）。",
  errors: {
    cookie: "浏览器没有保存登录状态。请允许此网站使用 Cookie；如果您通过 http 访问，请改用 https。",
    expired: "登录用时过长，或是在另一个浏览器中开始的。请重试。",
    denied: "此账号无权使用该代理。",
    failed: "登录未成功。请重试。",
    invalid: "用户名或密码错误。",
    rate_limited: "登录尝试过多。请稍候再试。",
    reauth: "请再次登录，以确认是您本人。",
    unreachable: "暂时无法连接登录服务。请稍后再试。",
  },
  appTitle: "您已登录",
  app: "接下来请在应用中继续，可以关闭此页面。",
  backToApp: "返回应用",
  failedTitle: "登录失败",
  tryAgain: "重试",
  stalledTitle: "无法连接登录服务",
  stalled:
    "您已登录，但负责确认登录的服务已有一段时间没有响应。您的登录会保留；服务恢复后此页面即可使用。",
};

export const PAGE_WORDS: Readonly<Record<PageLanguage, PageWords>> = { en, "zh-Hans": zhHans };

/** The best of our languages for an `Accept-Language` header (RFC 9110 §12.5.4); English unless it asks for Chinese first. */
export function pageLanguage(header: string | undefined): PageLanguage {
  const wishes = (header ?? "")
    .slice(0, 500)
    .split(",")
    .map(parseWish)
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight);
  const first = wishes.find(({ tag }) => tag === "en" || tag === "zh" || tag === "*");
  return first?.tag === "zh" ? "zh-Hans" : "en";
}

function parseWish(text: string): { readonly tag: string; readonly weight: number } {
  const [range = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const q = parameters.find((part) => part.startsWith("q="));
  const weight = q === undefined ? 1 : Number(q.slice(2));
  return { tag: range.split("-", 1)[0] ?? "", weight: Number.isNaN(weight) ? 0 : weight };
}
