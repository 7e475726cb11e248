// What else a model server is asked for: model lists, and the own APIs of Ollama, LM Studio, llama.cpp and OpenRouter.
import type { IncomingHttpHeaders } from "node:http";

export interface ServerShapes {
  /** Ids of `/v1/models`; `["test-model"]` by default, null: 404. */
  readonly models?: readonly string[] | null;
  /** Each answers 404 unless it is given. */
  readonly ollama?: {
    readonly models: readonly string[];
    /** `model_info["<arch>.context_length"]` of /api/show. */
    readonly trained?: number;
    /** `context_length` of /api/ps. */
    readonly loaded?: number;
  };
  readonly lmstudio?: {
    readonly models: readonly {
      readonly id: string;
      readonly type: string;
      readonly loaded?: number;
      readonly max: number;
    }[];
  };
  readonly llamacpp?: { readonly models: readonly string[]; readonly nCtx: number };
  readonly openrouter?: {
    readonly models: readonly { readonly id: string; readonly contextLength: number }[];
  };
}

/** JSON for a path, or null for 404. */
export function shapeOf(shapes: ServerShapes, path: string, headers: IncomingHttpHeaders): unknown {
  switch (path) {
    case "/v1/models":
      return modelList(shapes, headers);
    case "/api/v1/models":
      return (
        shapes.openrouter && {
          data: shapes.openrouter.models.map((row) => ({
            id: row.id,
            name: row.id,
            context_length: row.contextLength,
          })),
        }
      );
    case "/api/tags":
      return (
        shapes.ollama && {
          models: shapes.ollama.models.map((name) => ({ name, model: name, size: 1 })),
        }
      );
    case "/api/ps":
      return shapes.ollama && { models: loadedModels(shapes.ollama) };
    case "/api/show":
      return shapes.ollama && shownModel(shapes.ollama);
    case "/api/v0/models":
      return shapes.lmstudio && { object: "list", data: shapes.lmstudio.models.map(lmStudioRow) };
    case "/props":
      return (
        shapes.llamacpp && {
          default_generation_settings: { n_ctx: shapes.llamacpp.nCtx },
          total_slots: 1,
        }
      );
    default:
      return null;
  }
}

function modelList(shapes: ServerShapes, headers: IncomingHttpHeaders): unknown {
  const ids =
    shapes.llamacpp?.models ?? (shapes.models === undefined ? ["test-model"] : shapes.models);
  if (ids === null) return null;
  if (headers["anthropic-version"] !== undefined) {
    return {
      data: ids.map((id) => ({
        type: "model",
        id,
        display_name: id,
        created_at: "2026-01-01T00:00:00Z",
      })),
      has_more: false,
    };
  }
  return {
    object: "list",
    data: ids.map((id) => ({ id, object: "model", created: 0, owned_by: "test" })),
  };
}

function loadedModels(ollama: NonNullable<ServerShapes["ollama"]>): unknown[] {
  if (ollama.loaded === undefined) return [];
  return ollama.models.map((name) => ({ name, model: name, context_length: ollama.loaded }));
}

function shownModel(ollama: NonNullable<ServerShapes["ollama"]>): unknown {
  return {
    model_info: {
      "general.architecture": "qwen3",
      ...(ollama.trained === undefined ? {} : { "qwen3.context_length": ollama.trained }),
    },
    capabilities: ["completion", "tools"],
  };
}

function lmStudioRow(row: NonNullable<ServerShapes["lmstudio"]>["models"][number]): unknown {
  return {
    id: row.id,
    object: "model",
    type: row.type,
    max_context_length: row.max,
    ...(row.loaded === undefined ? {} : { state: "loaded", loaded_context_length: row.loaded }),
  };
}
