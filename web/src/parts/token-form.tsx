// Asks for the admin token, once in a tab.
import { useSignal } from '@preact/signals';
import type { HubFailure } from '../api/failure.ts';
import { hub } from '../api/hub.ts';
import { asFailure } from '../api/problem.ts';
import { keepToken } from '../api/token.ts';
import { FailureNotice } from './notice.tsx';

interface TokenFormProps {
  why: string;
  /** Whether the one that was given before is no longer good. */
  isRefused: boolean;
  onKept: () => void;
}

export function TokenForm({ why, isRefused, onKept }: TokenFormProps) {
  const failure = useSignal<HubFailure | undefined>(undefined);
  const value = useSignal('');

  async function check(event: Event): Promise<void> {
    event.preventDefault();
    failure.value = undefined;
    const token = value.value.trim();
    try {
      await hub.checkToken(token);
      keepToken(token);
      onKept();
    } catch (error) {
      failure.value = asFailure(error);
    }
  }

  return (
    <form class="token-form" onSubmit={check}>
      <label>
        <span class="label">Admin token</span>
        <input
          type="password"
          autocomplete="off"
          required
          value={value}
          onInput={(event) => {
            value.value = event.currentTarget.value;
          }}
        />
      </label>
      <button type="submit" class="button button-main">
        Continue
      </button>
      <p class="quiet">
        {why} It is the value of <code>API_TOKEN</code>, and is kept in this tab only, until it is closed.
      </p>
      {isRefused && !failure.value && (
        <p class="reason reason-bad" role="alert">
          The hub does not accept the token any more. Nothing was done; it goes on from here with one that is good.
        </p>
      )}
      {failure.value?.kind === 'unauthorized' && (
        <p class="reason reason-bad" role="alert">
          The hub does not accept this token.
        </p>
      )}
      {failure.value && failure.value.kind !== 'unauthorized' && <FailureNotice failure={failure.value} />}
    </form>
  );
}
