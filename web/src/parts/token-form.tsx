// Asks for a token, once per tab.
import { useSignal } from '@preact/signals';
import { isAtLeast, type Role } from '../../../src/access/roles.ts';
import type { HubFailure } from '../api/failure.ts';
import { hub } from '../api/hub.ts';
import { asFailure } from '../api/problem.ts';
import { keepToken, role } from '../api/token.ts';
import { FailureNotice } from './notice.tsx';
import { takeFocus } from './take-focus.ts';

interface TokenFormProps {
  /** The lowest sufficient role. */
  neededRole: Role;
  why: string;
  /** Whether the hub refused the previous token. */
  isRefused: boolean;
  onKept: () => void;
}

export function TokenForm({ neededRole, why, isRefused, onKept }: TokenFormProps) {
  const failure = useSignal<HubFailure | undefined>(undefined);
  const value = useSignal('');
  /** The role of a token with too few rights. */
  const lower = useSignal(role.value && !isAtLeast(role.value, neededRole) ? role.value : undefined);

  async function check(event: Event): Promise<void> {
    event.preventDefault();
    failure.value = undefined;
    const token = value.value.trim();
    try {
      const identity = await hub.whoAmI(token);
      lower.value = isAtLeast(identity.role, neededRole) ? undefined : identity.role;
      if (lower.value) return;
      keepToken(token, identity);
      onKept();
    } catch (error) {
      failure.value = asFailure(error);
    }
  }

  return (
    <form class="token-form" onSubmit={check}>
      <label>
        <span class="label">Token</span>
        <input
          ref={takeFocus}
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
        Sign in
      </button>
      <p class="quiet">
        {why} It is the hub’s <code>API_TOKEN</code>, or a token with the role {neededRole} or a higher one, and is kept
        in this tab only, until it is closed.
      </p>
      {isRefused && !failure.value && (
        <p class="reason reason-bad" role="alert">
          The hub no longer accepts the token. Nothing was changed. Enter a valid token to continue.
        </p>
      )}
      {lower.value && (
        <p class="reason reason-bad" role="alert">
          This token has the role {lower.value}; the role {neededRole} is needed here.
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
