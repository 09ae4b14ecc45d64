// The field for the address of another remote; a refusal stands right below it.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { HubFailure } from '../api/failure.ts';
import { addressRefusal } from './address-refusal.ts';
import { addRemote, failure, place } from './operations-state.ts';
import { Outcome } from './outcome.tsx';

const REFUSAL_ID = 'new-remote-refusal';

export function NewRemote() {
  const url = useSignal('');
  const field = useRef<HTMLInputElement>(null);
  const sentence = useRef<HTMLParagraphElement>(null);
  const refusal = refusalOf(failure.value);
  useEffect(() => {
    if (!refusal) return;
    field.current?.focus();
    // The field may be the last thing that the window has room for.
    sentence.current?.scrollIntoView({ block: 'nearest' });
  }, [refusal]);

  // Whoever comes back to the page begins anew.
  useEffect(
    () => () => {
      if (refusalOf(failure.peek())) failure.value = undefined;
    },
    [],
  );

  async function add(event: Event): Promise<void> {
    event.preventDefault();
    if (await addRemote(url.value.trim())) url.value = '';
  }

  return (
    <>
      <form class="inline-form" onSubmit={add}>
        <label>
          <span class="label">Address of an index or of an MCP registry</span>
          <input
            ref={field}
            type="url"
            required
            spellcheck={false}
            placeholder="https://example.org/index.json"
            value={url}
            aria-invalid={refusal ? true : undefined}
            aria-describedby={refusal ? REFUSAL_ID : undefined}
            onInput={(event) => {
              url.value = event.currentTarget.value;
              // What is being mended is not wrong yet.
              if (refusal) failure.value = undefined;
            }}
          />
        </label>
        <button type="submit" class="button">
          Add
        </button>
      </form>
      {refusal ? (
        <p ref={sentence} id={REFUSAL_ID} class="reason reason-bad" role="alert">
          {addressRefusal(url.value, refusal.message)}
        </p>
      ) : (
        <Outcome of="new remote" />
      )}
    </>
  );
}

/** Only what is wrong with the address: the rest is no fault of what was typed. */
function refusalOf(last: HubFailure | undefined): HubFailure | undefined {
  return place.value === 'new remote' && last?.kind === 'refused' ? last : undefined;
}
