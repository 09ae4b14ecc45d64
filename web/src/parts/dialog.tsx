// A modal dialog: the browser keeps the focus inside, and Escape closes it.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { CrossIcon } from './icons.tsx';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    element.current?.showModal();
    // Otherwise, the close button would have the focus.
    element.current?.querySelector('input')?.focus();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog ref={element} class="dialog" aria-labelledby="dialog-title" onClose={onClose}>
      <header class="dialog-head">
        <h2 id="dialog-title">{title}</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={() => element.current?.close()}>
          <CrossIcon />
        </button>
      </header>
      {children}
    </dialog>
  );
}

interface QuestionProps {
  title: string;
  /** Label of the confirm button. */
  action: string;
  onYes: () => void;
  onClose: () => void;
  children: ComponentChildren;
}

/** Asks for confirmation of an action that cannot be undone. */
export function Question({ title, action, onYes, onClose, children }: QuestionProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <div class="dialog-foot">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class="button button-bad"
          onClick={() => {
            onYes();
            onClose();
          }}
        >
          {action}
        </button>
      </div>
    </Dialog>
  );
}
