// The navigation on a phone: a native modal dialog (focus stays inside and returns, Escape closes).
import { useEffect, useRef, type ReactNode } from "react";
import { useWords } from "../i18n/i18n.tsx";
import { Icon } from "../parts/icons.tsx";

export function Drawer(props: { readonly onClose: () => void; readonly children: ReactNode }) {
  const { t } = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const node = dialog.current;
    node?.showModal();
    return () => node?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={t.app.navigation}
      className="fixed inset-y-0 start-0 m-0 h-dvh max-h-none w-72 max-w-[85vw] border-e bg-card p-0 text-card-foreground backdrop:bg-scrim"
      onClose={props.onClose}
      onClick={(event) => {
        if (event.target === dialog.current) props.onClose();
      }}
    >
      {props.children}
      <button
        type="button"
        className="icon-button absolute end-2 top-3"
        aria-label={t.app.closeMenu}
        onClick={props.onClose}
      >
        <Icon name="close" />
      </button>
    </dialog>
  );
}
