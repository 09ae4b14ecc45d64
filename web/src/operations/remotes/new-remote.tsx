// The form for a new remote; a refusal is shown below its field.
import { type Signal, useSignal } from '@preact/signals';
import type { TargetedInputEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { addRemote, failure, panel } from '../operations-state.ts';
import { Outcome } from '../outcome.tsx';
import { fieldRefusal } from './field-refusal.ts';

const REFUSAL_ID = 'new-remote-refusal';

export function NewRemote() {
  const url = useSignal('');
  const name = useSignal('');
  const { refusal, form } = useRefusal(url);

  async function add(event: Event): Promise<void> {
    event.preventDefault();
    const named = name.value.trim();
    if (!(await addRemote({ url: url.value.trim(), ...(named === '' ? {} : { name: named }) }))) return;
    url.value = '';
    name.value = '';
  }

  return (
    <>
      <form ref={form} class="inline-form new-remote" onSubmit={add}>
        <label>
          <span class="label">Address of an index or of an MCP registry</span>
          <input
            type="url"
            required
            placeholder="https://example.org/index.json"
            {...editing(url, refusal?.field === 'url')}
          />
        </label>
        {refusal?.field === 'url' && <Refusal sentence={refusal.sentence} />}
        <label>
          <span class="label">Name (optional)</span>
          <input type="text" maxLength={100} {...editing(name, refusal?.field === 'name')} />
        </label>
        {refusal?.field === 'name' && <Refusal sentence={refusal.sentence} />}
        <button type="submit" class="button">
          Add
        </button>
      </form>
      {!refusal && <Outcome of="new remote" />}
    </>
  );
}

function Refusal({ sentence }: { sentence: string }) {
  const element = useRef<HTMLParagraphElement>(null);
  // The form may be at the lower edge of the window.
  useEffect(() => element.current?.scrollIntoView({ block: 'nearest' }), [sentence]);
  return (
    <p ref={element} id={REFUSAL_ID} class="reason reason-bad" role="alert">
      {sentence}
    </p>
  );
}

/** The reason for the last refusal; focuses the faulty field. */
function useRefusal(url: Signal<string>) {
  const form = useRef<HTMLFormElement>(null);
  const last = panel.value === 'new remote' ? failure.value : undefined;
  const refusal = last && fieldRefusal(url.value, last);
  useEffect(() => {
    if (refusal) form.current?.querySelector<HTMLInputElement>('[aria-invalid]')?.focus();
  }, [last]);
  // A refusal is cleared when the reader returns to the page.
  useEffect(
    () => () => {
      if (panel.peek() === 'new remote' && failure.peek()?.kind === 'refused') failure.value = undefined;
    },
    [],
  );
  return { refusal, form };
}

/** Properties of a field that is bound to a signal. */
function editing(text: Signal<string>, isRefused: boolean) {
  return {
    spellcheck: false,
    value: text,
    'aria-invalid': isRefused || undefined,
    'aria-describedby': isRefused ? REFUSAL_ID : undefined,
    onInput: (event: TargetedInputEvent<HTMLInputElement>) => {
      text.value = event.currentTarget.value;
      // A field that is being edited is not faulty.
      if (isRefused) failure.value = undefined;
    },
  };
}
