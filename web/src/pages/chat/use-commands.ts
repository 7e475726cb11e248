// Runs the slash commands of the composer. What they say shows as one note above it.
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { ApprovalChoice } from "#protocol/events.ts";
import { ApiError } from "../../api/error.ts";
import { client, queries } from "../../app/services.ts";
import { useWords } from "../../i18n/i18n.tsx";
import type { Draft } from "./composer.tsx";
import type { SessionController } from "./session-controller.ts";
import { readSlash, WEB_COMMANDS, type WebCommand } from "./slash.ts";

export interface Note {
  readonly tone: "info" | "error";
  readonly lines: readonly string[];
}

export interface Commands {
  readonly note: Note | null;
  readonly close: () => void;
  readonly say: (...lines: string[]) => void;
  readonly fail: (error: unknown) => void;
  /** False when the turn runs in another process: the note names it. */
  readonly stop: () => Promise<boolean>;
  /** True when the text was a command (run, or refused with a note). */
  readonly handle: (draft: Draft, busy: boolean) => Promise<boolean>;
}

const CHOICES: readonly ApprovalChoice[] = ["once", "session", "always", "deny"];

export function useCommands(
  controller: SessionController | null,
  send: (draft: Draft) => Promise<boolean>,
): Commands {
  const { t, format } = useWords();
  const navigate = useNavigate();
  const [note, setNote] = useState<Note | null>(null);
  const [yolo, setYolo] = useState(false);
  const say = (...lines: string[]) => setNote({ tone: "info", lines });
  const refuse = (line: string) => setNote({ tone: "error", lines: [line] });
  const fail = (error: unknown) => refuse(error instanceof ApiError ? error.detail : String(error));

  async function decide(choice: ApprovalChoice): Promise<void> {
    const pending = controller?.view().live.pending.find((entry) => entry.type === "approval");
    if (!controller || !pending) {
      refuse(t.chat.nothingAsked);
      return;
    }
    await controller.approve(pending.requestId, choice);
  }

  async function stop(): Promise<boolean> {
    const holder = (await controller?.stop()) ?? null;
    if (holder !== null) refuse(t.chat.stopElsewhere(holder));
    return holder === null;
  }

  function status(): void {
    const chat = controller?.view().chat;
    if (!chat) return;
    const { used, window } = chat.context;
    const state = t.chat.states[chat.state];
    say(t.chat.statusLine(chat.model ?? "?", state, format.compact(used), format.compact(window)));
  }

  async function rename(title: string): Promise<void> {
    if (!controller) return;
    const path = `/api/sessions/${encodeURIComponent(controller.sessionId)}`;
    await client.request("PATCH", path, { json: { title } });
    await queries.invalidateQueries({ queryKey: ["sessions"] });
    say(t.chat.titled(title));
  }

  async function run(name: WebCommand, args: string, draft: Draft): Promise<void> {
    switch (name) {
      case "help":
        say(
          ...WEB_COMMANDS.map((command) =>
            `/${command.name} ${command.args}`.trimEnd().padEnd(34).concat(command.help),
          ),
        );
        return;
      case "status":
      case "usage":
        return status();
      case "new":
        return navigate({ to: "/chat" });
      case "stop":
        await stop();
        return;
      case "undo":
        if (controller) say(t.chat.undone(await controller.undo()));
        return;
      case "retry":
        return controller?.retry();
      case "compress":
        await controller?.compress(args);
        return;
      case "title":
        return rename(args);
      case "model":
        if (args === "") return navigate({ to: "/models" });
        await controller?.change({ model: args });
        say(t.chat.modelSet(args));
        return;
      case "reasoning":
        await controller?.change({ effort: args });
        say(t.chat.effortSet(args));
        return;
      case "approve":
        return decide(CHOICES.find((choice) => choice === args) ?? "once");
      case "deny":
        return decide("deny");
      case "yolo":
        await controller?.change({ yolo: !yolo });
        setYolo(!yolo);
        say(t.chat.yoloSet(!yolo));
        return;
      case "queue":
      case "steer":
        await send({ ...draft, text: args, whenBusy: name });
    }
  }

  async function handle(draft: Draft, busy: boolean): Promise<boolean> {
    const verdict = readSlash(draft.text, busy);
    setNote(null);
    switch (verdict.kind) {
      case "text":
        return false;
      case "unknown":
        refuse(t.chat.commandUnknown(verdict.word));
        return true;
      case "ambiguous":
        refuse(t.chat.commandAmbiguous(verdict.word, verdict.candidates.join(", ")));
        return true;
      case "busy":
        refuse(t.chat.commandRefused(verdict.name));
        return true;
      case "args":
        refuse(t.chat.commandArgs(verdict.name, verdict.args));
        return true;
      case "run":
        await run(verdict.name, verdict.args, draft).catch(fail);
        return true;
    }
  }

  return { note, close: () => setNote(null), say, fail, stop, handle };
}
