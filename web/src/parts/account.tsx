// Whose token this tab uses, and the button to sign out.
import { forgetToken, owner, role, token } from '../api/token.ts';

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
