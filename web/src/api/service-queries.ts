// Questions about services and profiles (dashboard.md §11.4, §11.6).
import { queryOptions } from "@tanstack/react-query";
import type { ServiceJobBody, ServiceLogBody, ServicesBody } from "#protocol/http-services.ts";
import type { ProfilesBody } from "#protocol/http-status.ts";
import { client } from "../app/services.ts";

const FRESH_MS = 1000;
const JOB_MS = 500;

const ask = <T>(path: string, query: Readonly<Record<string, string | number>> = {}) => ({
  queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
    client.request<T>("GET", path, { query, signal }),
});

/** With the server's own copy, which is a second old at most: never older than 2 s while a page shows it (dashboard.md §12.3). */
export const servicesQuery = queryOptions({
  queryKey: ["services", "list"],
  ...ask<ServicesBody>("/api/services"),
  refetchInterval: FRESH_MS,
  staleTime: 0,
});

export const serviceLogQuery = (slot: string) =>
  queryOptions({
    queryKey: ["services", "log", slot],
    ...ask<ServiceLogBody>(`/api/services/${encodeURIComponent(slot)}/log`, { lines: 100 }),
    refetchInterval: FRESH_MS,
    staleTime: 0,
  });

/** A job that ended is not asked again; one that the next server process does not know is told by a 404. */
export const serviceJobQuery = (id: string) =>
  queryOptions({
    queryKey: ["services", "job", id],
    ...ask<ServiceJobBody>(`/api/services/jobs/${encodeURIComponent(id)}`),
    refetchInterval: ({ state }) =>
      state.data === undefined || state.data.status === "running" ? JOB_MS : false,
    staleTime: 0,
  });

export const profilesQuery = queryOptions({
  queryKey: ["profiles"],
  ...ask<ProfilesBody>("/api/profiles"),
  refetchInterval: 5000,
});

export interface SoulBody {
  /** "" without a file. */
  readonly content: string;
}

export const soulQuery = (name: string) =>
  queryOptions({
    queryKey: ["profiles", "soul", name],
    ...ask<SoulBody>(`/api/profiles/${encodeURIComponent(name)}/soul`),
    // A refetch must not pull the text away from under its writer.
    refetchOnWindowFocus: false,
  });
