// What the agent waits for: permission, or an answer. Docked above the composer, so that it is always in sight.
import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import type { ApprovalChoice, ApprovalRequest, ClarifyRequest } from "#protocol/events.ts";
import { announce } from "../../app/announce.ts";
import { ApiError } from "../../api/error.ts";
import { useWords } from "../../i18n/i18n.tsx";
import { Icon, type IconName } from "../../parts/icons.tsx";
import { useNow } from "../../parts/now.ts";
import { showToast } from "../../parts/toasts.tsx";
import type { PendingRequest } from "./live.ts";
import type { SessionController } from "./session-controller.ts";

function Countdown(props: { readonly expiresAt: string; readonly text: (time: string) => string }) {
  const { format } = useWords();
  const now = useNow(1000);
  const left = Math.max(0, Math.ceil((Date.parse(props.expiresAt) - now) / 1000));
  if (Number.isNaN(left)) return null;
  return (
    <p className="text-xs text-muted-foreground tabular-nums" data-testid="countdown">
      {props.text(format.duration(left * 1000))}
    </p>
  );
}

/** Takes the focus only when nothing is being written (dashboard.md §12.3). */
function Card(props: {
  readonly icon: IconName;
  readonly title: string;
  readonly spoken: string;
  readonly testId: string;
  readonly children: ReactNode;
}) {
  const card = useRef<HTMLElement>(null);
  const heading = useId();
  const { spoken } = props;
  useEffect(() => {
    announce(spoken, "assertive");
    const composer = document.querySelector<HTMLTextAreaElement>("[data-composer] textarea");
    if (composer === null || composer.value === "") card.current?.focus();
  }, [spoken]);
  return (
    <section
      ref={card}
      tabIndex={-1}
      role="group"
      aria-labelledby={heading}
      data-testid={props.testId}
      className="card grid max-h-[50vh] gap-2.5 overflow-y-auto border-warning p-3.5"
    >
      <h2 id={heading} className="flex items-center gap-2 font-semibold">
        <span className="text-warning">
          <Icon name={props.icon} />
        </span>
        {props.title}
      </h2>
      {props.children}
    </section>
  );
}

function complain(error: unknown): void {
  showToast(error instanceof ApiError ? error.detail : String(error), { tone: "error" });
}

function ApprovalCard(props: {
  readonly request: ApprovalRequest;
  readonly controller: SessionController;
}) {
  const { t } = useWords();
  const { request, controller } = props;
  const [busy, setBusy] = useState(false);
  const words = t.chat.approval;

  async function decide(choice: ApprovalChoice): Promise<void> {
    setBusy(true);
    try {
      const before = await controller.approve(request.requestId, choice);
      if (before !== null) showToast(words.decided(before));
    } catch (error) {
      complain(error);
      setBusy(false);
    }
  }

  return (
    <Card
      icon="shield"
      title={request.title === "" ? words.title : request.title}
      spoken={words.announce(request.detail)}
      testId="approval-card"
    >
      <pre
        className="log-text max-h-48 overflow-auto rounded-(--radius) bg-background p-3"
        tabIndex={0}
      >
        {request.detail}
      </pre>
      <p className="text-sm">
        <span className="text-muted-foreground">{words.why}: </span>
        {request.rule}
      </p>
      <div className="flex flex-wrap items-center gap-2">
        {request.choices.map((choice) => (
          <button
            key={choice}
            type="button"
            disabled={busy}
            className={`button ${choice === "once" ? "button-primary" : choice === "deny" ? "button-danger" : "button-plain"}`}
            onClick={() => void decide(choice)}
          >
            {words[choice]}
          </button>
        ))}
        <Countdown expiresAt={request.expiresAt} text={words.left} />
      </div>
    </Card>
  );
}

function ClarifyCard(props: {
  readonly request: ClarifyRequest;
  readonly controller: SessionController;
}) {
  const { t } = useWords();
  const { request, controller } = props;
  const [busy, setBusy] = useState(false);
  const [text, setText] = useState("");
  const words = t.chat.clarify;

  async function reply(answer: string): Promise<void> {
    if (answer.trim() === "") return;
    setBusy(true);
    try {
      await controller.clarify(request.requestId, answer);
    } catch (error) {
      complain(error);
      setBusy(false);
    }
  }

  return (
    <Card
      icon="question"
      title={words.title}
      spoken={words.announce(request.question)}
      testId="clarify-card"
    >
      <p className="whitespace-pre-wrap">{request.question}</p>
      {request.choices.length > 0 && (
        <div className="flex flex-wrap gap-2">
          {request.choices.map((choice) => (
            <button
              key={choice}
              type="button"
              disabled={busy}
              className="button button-plain"
              onClick={() => void reply(choice)}
            >
              {choice}
            </button>
          ))}
        </div>
      )}
      <form
        className="flex gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          void reply(text);
        }}
      >
        <input
          className="input"
          aria-label={words.answer}
          placeholder={words.answer}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit" className="button button-primary" disabled={busy}>
          {words.send}
        </button>
      </form>
      <Countdown expiresAt={request.expiresAt} text={words.left} />
    </Card>
  );
}

export function RequestCards(props: {
  readonly pending: readonly PendingRequest[];
  readonly controller: SessionController;
}) {
  return props.pending.map((request) =>
    request.type === "approval" ? (
      <ApprovalCard key={request.requestId} request={request} controller={props.controller} />
    ) : (
      <ClarifyCard key={request.requestId} request={request} controller={props.controller} />
    ),
  );
}
