// A modal dialog: focus stays inside and returns to where it came from.
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { useWords } from "../i18n/i18n.tsx";
import { Icon } from "./icons.tsx";

export function Dialog(props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const { t } = useWords();
  return (
    <Radix.Root open onOpenChange={(open) => !open && props.onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Radix.Content
          aria-describedby={undefined}
          className="menu fixed start-1/2 top-1/2 z-50 grid max-h-[90dvh] w-[min(32rem,calc(100vw-1.5rem))] -translate-1/2 gap-4 overflow-y-auto p-5"
        >
          <div className="flex items-center justify-between gap-3">
            <Radix.Title className="text-lg font-semibold">{props.title}</Radix.Title>
            <Radix.Close className="icon-button" aria-label={t.common.close}>
              <Icon name="close" />
            </Radix.Close>
          </div>
          {props.children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
