// Why an install is refused, and what to do about it.
import type { EntityUid } from '../catalog/uid.ts';
import { verdictOf } from './admission.ts';
import type { Decision } from './decide.ts';
import type { ApprovalState } from './store.ts';

/** Undefined when it may be installed. */
export function installRefusal(
  uid: EntityUid,
  install: Decision,
  { approval, isInCatalog = true }: { approval: ApprovalState; isInCatalog?: boolean },
): string | undefined {
  const verdict = verdictOf(install, approval);
  if (verdict === 'allowed') return undefined;
  if (verdict === 'pending') {
    const advice = isInCatalog
      ? `an operator approves it with 'hub approve ${uid}'`
      : 'only what a remote lists can be approved, so add it to the index of a remote';
    return `The policy asks for approval before '${uid}' is installed (${install.label}): ${advice}.`;
  }
  if (install.outcome === 'require_approval') return `A reviewer has rejected '${uid}', so it cannot be installed.`;
  return `The policy does not let '${uid}' be installed: ${install.label} blocks it.`;
}
