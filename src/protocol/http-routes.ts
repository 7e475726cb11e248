// The REST table of dashboard.md §11 as types: method and path -> access class, body in, body out. A route that is not in
// here does not compile, and the server refuses to start when one of these is not registered.
import type {
  ApprovalInput,
  AttachmentBody,
  ChatSettingsInput,
  ChatStateBody,
  ClarifyInput,
  CompressBody,
  CompressInput,
  DetectBody,
  RetryBody,
  RetryInput,
  SendMessageBody,
  SendMessageInput,
  SetupBody,
  SetupModelBody,
  SetupModelInput,
  StartChatBody,
  StartChatInput,
  StopBody,
  UndoBody,
  UnqueueInput,
} from "./http-chat.ts";
import type {
  AuxiliaryModelsBody,
  ConfigBody,
  ConfigDefaultsBody,
  ConfigSchemaBody,
  EnvBody,
  EnvChangedBody,
  EnvKeyInput,
  EnvRevealBody,
  ModelInfoBody,
  ModelOptionsBody,
  PutConfigInput,
  PutEnvInput,
  PutRawConfigInput,
  RawConfigBody,
  SetModelBody,
  SetModelInput,
} from "./http-config.ts";
import type {
  BulkDeleteInput,
  DeletedBody,
  EmptyCountBody,
  ForkBody,
  ImportBody,
  LatestDescendantBody,
  LogsBody,
  MessagesBody,
  ModelUsageBody,
  PruneInput,
  SearchBody,
  SessionBody,
  SessionPatchInput,
  SessionsBody,
  SessionStatsBody,
  UsageBody,
} from "./http-sessions.ts";
import type {
  ActivateProfileInput,
  AuthProvidersBody,
  AuthProvidersStatusBody,
  AuthSessionsBody,
  ChangeProfileInput,
  CreateProfileBody,
  CreateProfileInput,
  HealthBody,
  MeBody,
  NativeRefreshInput,
  NativeTokenInput,
  OkBody,
  PluginsBody,
  ProfilesBody,
  ReadyBody,
  SetThemeBody,
  SetThemeInput,
  SetupCommandBody,
  SoulBody,
  StatusBody,
  ThemesBody,
  WsTicketBody,
} from "./http-status.ts";
import type { ThemeProblemsBody } from "./theme.ts";

import type {
  GatewayActionBody,
  ServiceActionBody,
  ServiceJobBody,
  ServiceLogBody,
  ServicesBody,
} from "./http-services.ts";

/** Class letters of dashboard.md §3.1. */
export type AccessClass = "P" | "B" | "N" | "S" | "R" | "T";

interface Route<Class extends AccessClass, Out, In = null> {
  readonly access: Class;
  readonly in: In;
  readonly out: Out;
}

/** A file, a page, a download or an event stream: not JSON. */
export type RawAnswer = "raw";

export interface HttpRoutes {
  "GET /api/health": Route<"P", HealthBody>;
  "GET /api/status": Route<"P", StatusBody>;
  "GET /api/config/defaults": Route<"P", ConfigDefaultsBody>;
  "GET /api/config/schema": Route<"P", ConfigSchemaBody>;
  "GET /api/model/info": Route<"P", ModelInfoBody>;
  "GET /api/dashboard/themes": Route<"P", ThemesBody>;
  "GET /api/dashboard/plugins": Route<"P", PluginsBody>;

  "GET /login": Route<"B", RawAnswer>;
  "GET /auth/login": Route<"B", RawAnswer>;
  "GET /auth/callback": Route<"B", RawAnswer>;
  "POST /auth/logout": Route<"B", RawAnswer>;
  "POST /auth/password-login": Route<"B", RawAnswer>;
  "GET /auth/native/authorize": Route<"B", RawAnswer>;
  "POST /auth/native/token": Route<"B", RawAnswer, NativeTokenInput>;
  "POST /auth/native/refresh": Route<"B", RawAnswer, NativeRefreshInput>;
  "GET /api/auth/providers": Route<"B", AuthProvidersBody>;
  "GET /healthz": Route<"B", RawAnswer>;
  "GET /readyz": Route<"B", ReadyBody>;
  "GET /metrics": Route<"T", RawAnswer>;
  "GET /assets/*": Route<"B", RawAnswer>;
  "GET /fonts/*": Route<"B", RawAnswer>;
  "GET /icons/*": Route<"B", RawAnswer>;
  "GET /favicon.ico": Route<"B", RawAnswer>;
  "GET /manifest.webmanifest": Route<"B", RawAnswer>;
  "GET /sw.js": Route<"B", RawAnswer>;

  "GET /*": Route<"N", RawAnswer>;

  "GET /api/auth/providers/status": Route<"S", AuthProvidersStatusBody>;
  "GET /api/auth/me": Route<"S", MeBody>;
  "GET /api/auth/sessions": Route<"S", AuthSessionsBody>;
  "DELETE /api/auth/sessions/{sid}": Route<"S", OkBody>;
  "POST /auth/logout-all": Route<"S", RawAnswer>;
  "POST /api/auth/ws-ticket": Route<"S", WsTicketBody>;

  "GET /api/setup": Route<"S", SetupBody>;
  "POST /api/setup/detect": Route<"S", DetectBody>;
  "POST /api/setup/model": Route<"S", SetupModelBody, SetupModelInput>;

  "POST /api/chat/sessions": Route<"S", StartChatBody, StartChatInput>;
  "GET /api/chat/sessions/{id}": Route<"S", ChatStateBody>;
  "PATCH /api/chat/sessions/{id}": Route<"S", ChatStateBody, ChatSettingsInput>;
  "POST /api/chat/sessions/{id}/messages": Route<"S", SendMessageBody, SendMessageInput>;
  "POST /api/chat/sessions/{id}/stop": Route<"S", StopBody>;
  "POST /api/chat/sessions/{id}/approvals/{requestId}": Route<"S", OkBody, ApprovalInput>;
  "POST /api/chat/sessions/{id}/clarify/{requestId}": Route<"S", OkBody, ClarifyInput>;
  "POST /api/chat/sessions/{id}/retry": Route<"S", RetryBody, RetryInput>;
  "POST /api/chat/sessions/{id}/undo": Route<"S", UndoBody>;
  "POST /api/chat/sessions/{id}/compress": Route<"S", CompressBody, CompressInput>;
  "POST /api/chat/sessions/{id}/unqueue": Route<"S", OkBody, UnqueueInput>;
  "POST /api/chat/attachments": Route<"S", AttachmentBody>;
  "GET /api/chat/sessions/{id}/events": Route<"S", RawAnswer>;
  "GET /api/events": Route<"S", RawAnswer>;

  "GET /api/sessions": Route<"S", SessionsBody>;
  "GET /api/sessions/search": Route<"S", SearchBody>;
  "GET /api/sessions/stats": Route<"S", SessionStatsBody>;
  "GET /api/sessions/empty": Route<"S", EmptyCountBody>;
  "DELETE /api/sessions/empty": Route<"S", DeletedBody>;
  "GET /api/sessions/empty/count": Route<"S", EmptyCountBody>;
  "POST /api/sessions/bulk-delete": Route<"S", DeletedBody, BulkDeleteInput>;
  "POST /api/sessions/prune": Route<"S", DeletedBody, PruneInput>;
  "POST /api/sessions/import": Route<"S", ImportBody>;
  "GET /api/sessions/{id}": Route<"S", SessionBody>;
  "PATCH /api/sessions/{id}": Route<"S", SessionBody, SessionPatchInput>;
  "DELETE /api/sessions/{id}": Route<"S", OkBody>;
  "GET /api/sessions/{id}/messages": Route<"S", MessagesBody>;
  "GET /api/sessions/{id}/latest-descendant": Route<"S", LatestDescendantBody>;
  "GET /api/sessions/{id}/export": Route<"S", RawAnswer>;
  "POST /api/sessions/{id}/fork": Route<"S", ForkBody>;

  "GET /api/logs": Route<"S", LogsBody>;
  "GET /api/analytics/usage": Route<"S", UsageBody>;
  "GET /api/analytics/models": Route<"S", ModelUsageBody>;

  "GET /api/config": Route<"S", ConfigBody>;
  "PUT /api/config": Route<"S", OkBody, PutConfigInput>;
  "GET /api/config/raw": Route<"R", RawConfigBody>;
  "PUT /api/config/raw": Route<"R", OkBody, PutRawConfigInput>;
  "GET /api/env": Route<"S", EnvBody>;
  "PUT /api/env": Route<"R", EnvChangedBody, PutEnvInput>;
  "DELETE /api/env": Route<"R", EnvChangedBody, EnvKeyInput>;
  "POST /api/env/reveal": Route<"R", EnvRevealBody, EnvKeyInput>;
  "GET /api/model/options": Route<"S", ModelOptionsBody>;
  "GET /api/model/auxiliary": Route<"S", AuxiliaryModelsBody>;
  "POST /api/model/set": Route<"S", SetModelBody, SetModelInput>;

  "GET /api/services": Route<"S", ServicesBody>;
  "POST /api/services/{slot}/start": Route<"S", ServiceActionBody>;
  "POST /api/services/{slot}/stop": Route<"S", ServiceActionBody>;
  "POST /api/services/{slot}/restart": Route<"S", ServiceActionBody>;
  "GET /api/services/jobs/{id}": Route<"S", ServiceJobBody>;
  "GET /api/services/{slot}/log": Route<"S", ServiceLogBody>;
  "POST /api/gateway/start": Route<"S", GatewayActionBody>;
  "POST /api/gateway/stop": Route<"S", GatewayActionBody>;
  "POST /api/gateway/restart": Route<"S", GatewayActionBody>;

  "GET /api/profiles": Route<"S", ProfilesBody>;
  "POST /api/profiles": Route<"S", CreateProfileBody, CreateProfileInput>;
  "POST /api/profiles/active": Route<"S", OkBody, ActivateProfileInput>;
  "PATCH /api/profiles/{name}": Route<"S", CreateProfileBody, ChangeProfileInput>;
  "DELETE /api/profiles/{name}": Route<"S", CreateProfileBody>;
  "POST /api/profiles/{name}/register": Route<"S", CreateProfileBody>;
  "GET /api/profiles/{name}/soul": Route<"S", SoulBody>;
  "PUT /api/profiles/{name}/soul": Route<"S", OkBody, SoulBody>;
  "GET /api/profiles/{name}/setup-command": Route<"S", SetupCommandBody>;
  "GET /api/dashboard/themes/problems": Route<"S", ThemeProblemsBody>;
  "PUT /api/dashboard/theme": Route<"S", SetThemeBody, SetThemeInput>;
}

export type RouteKey = keyof HttpRoutes;
export type RouteKeyOf<Class extends AccessClass> = {
  [Key in RouteKey]: HttpRoutes[Key]["access"] extends Class ? Key : never;
}[RouteKey];
export type RouteIn<Key extends RouteKey> = HttpRoutes[Key]["in"];
export type RouteOut<Key extends RouteKey> = HttpRoutes[Key]["out"];
