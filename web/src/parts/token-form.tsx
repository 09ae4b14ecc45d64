// Signing in with a token, once per tab, and signing out.
import { useSignal } from '@preact/signals';
import { isAtLeast, type Role } from '../../../src/access/roles.ts';
import type { HubFailure } from '../api/failure.ts';
import { hub } from '../api/hub.ts';
import { asFailure } from '../api/problem.ts';
import { forgetToken, keepToken, owner, role, token } from '../api/token.ts';
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
    const given = value.value.trim();
    try {
      const identity = await hub.whoAmI(given);
      lower.value = isAtLeast(identity.role, neededRole) ? undefined : identity.role;
      if (lower.value) return;
      keepToken(given, identity);
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
        {why} Use the hub’s <code>API_TOKEN</code>, or a token with the role {neededRole} or a higher one. It is kept
        only in this tab, until you close the tab.
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

/** Whose token this tab uses, and the button to sign out. */
export function Account() {
  if (token.value === '') return null;
  return (
    <p class="account quiet">
      {role.value && (
        <span>
          Signed in as {owner} ({role})
        </span>
      )}
      <button type="button" class="button button-small" onClick={forgetToken}>
        Sign out
      </button>
    </p>
  );
}
