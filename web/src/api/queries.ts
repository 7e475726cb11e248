// Every question to the server as a query: key, path and type in one place.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { SetupBody } from "#protocol/http-chat.ts";
import type {
  AuxiliaryModelsBody,
  ConfigBody,
  ConfigDefaultsBody,
  ConfigSchemaBody,
  EnvBody,
  ModelInfoBody,
  ModelOptionsBody,
  RawConfigBody,
} from "#protocol/http-config.ts";
import type {
  LogsBody,
  ModelUsageBody,
  SearchBody,
  SessionBody,
  SessionsBody,
  UsageBody,
} from "#protocol/http-sessions.ts";
import type { AuthSessionsBody, MeBody, StatusBody, ThemesBody } from "#protocol/http-status.ts";
import type { ThemeProblemsBody } from "#protocol/theme.ts";
import { boot, client } from "../app/services.ts";
import type { Query } from "./client.ts";

const get = <T>(path: string, query: Query = {}) => ({
  queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
    client.request<T>("GET", path, { query, signal }),
});

const getTagged = <T>(path: string) => ({
  queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
    client.answer<T>("GET", path, { signal }),
});

export const STATUS_MS = 5000;

export const statusQuery = queryOptions({
  queryKey: ["status"],
  ...get<StatusBody>("/api/status"),
  refetchInterval: STATUS_MS,
});

/** Who is signed in; nobody is in local mode, which answers 401. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  ...get<MeBody>("/api/auth/me"),
  enabled: boot.authRequired,
  staleTime: 60_000,
});

export const loginSessionsQuery = queryOptions({
  queryKey: ["me", "sessions"],
  ...get<AuthSessionsBody>("/api/auth/sessions"),
  enabled: boot.authRequired,
});

export const setupQuery = queryOptions({ queryKey: ["setup"], ...get<SetupBody>("/api/setup") });

export interface SessionFilter {
  readonly limit: number;
  readonly offset?: number;
  readonly source?: string;
  readonly archived?: boolean;
}

export const sessionsQuery = (filter: SessionFilter) =>
  queryOptions({
    queryKey: ["sessions", "list", filter],
    ...get<SessionsBody>("/api/sessions", { ...filter }),
    placeholderData: keepPreviousData,
  });

export const searchQuery = (q: string) =>
  queryOptions({
    queryKey: ["sessions", "search", q],
    ...get<SearchBody>("/api/sessions/search", { q, limit: 50 }),
    placeholderData: keepPreviousData,
  });

export const sessionQuery = (id: string) =>
  queryOptions({
    queryKey: ["sessions", "one", id],
    ...get<SessionBody>(`/api/sessions/${encodeURIComponent(id)}`),
  });

export const modelInfoQuery = queryOptions({
  queryKey: ["models", "info"],
  ...get<ModelInfoBody>("/api/model/info"),
});

export const modelOptionsQuery = queryOptions({
  queryKey: ["models", "options"],
  ...get<ModelOptionsBody>("/api/model/options", { include_unconfigured: true }),
});

export const auxiliaryQuery = queryOptions({
  queryKey: ["models", "auxiliary"],
  ...get<AuxiliaryModelsBody>("/api/model/auxiliary"),
});

export const modelUsageQuery = queryOptions({
  queryKey: ["analytics", "models"],
  ...get<ModelUsageBody>("/api/analytics/models", { days: 30 }),
});

export const envQuery = queryOptions({ queryKey: ["env"], ...get<EnvBody>("/api/env") });

export const configQuery = queryOptions({
  queryKey: ["config", "values"],
  ...getTagged<ConfigBody>("/api/config"),
  // A refetch must not pull the form away from under its user; a conflict is told by 412.
  refetchOnWindowFocus: false,
});

export const configSchemaQuery = queryOptions({
  queryKey: ["config-schema"],
  ...get<ConfigSchemaBody>("/api/config/schema"),
  staleTime: Infinity,
});

export const configDefaultsQuery = queryOptions({
  queryKey: ["config-defaults"],
  ...get<ConfigDefaultsBody>("/api/config/defaults"),
  staleTime: Infinity,
});

export const rawConfigQuery = queryOptions({
  queryKey: ["config", "raw"],
  ...getTagged<RawConfigBody>("/api/config/raw"),
  refetchOnWindowFocus: false,
});

export interface LogFilter {
  readonly file: string;
  readonly lines: number;
  readonly level: string;
  readonly component: string;
  readonly search: string;
}

export const logsQuery = (filter: LogFilter, follow: boolean) =>
  queryOptions({
    queryKey: ["logs", filter],
    ...get<LogsBody>("/api/logs", { ...filter }),
    refetchInterval: follow ? 2000 : false,
    placeholderData: keepPreviousData,
  });

export const usageQuery = (days: number) =>
  queryOptions({
    queryKey: ["analytics", "usage", days],
    ...get<UsageBody>("/api/analytics/usage", { days }),
    placeholderData: keepPreviousData,
  });

export const themesQuery = queryOptions({
  queryKey: ["themes"],
  ...get<ThemesBody>("/api/dashboard/themes"),
  // As old as the server's own copy may be.
  staleTime: 2000,
});

export const themeProblemsQuery = queryOptions({
  queryKey: ["themes", "problems"],
  ...get<ThemeProblemsBody>("/api/dashboard/themes/problems"),
});
