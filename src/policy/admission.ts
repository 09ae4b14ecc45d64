// Combines policy decisions, approvals and the remote's setting into a verdict about an entity.
import type { EntityUid } from '../catalog/uid.ts';
import { type CompiledPolicy, compilePolicy, type Decision, type Decisions } from './decide.ts';
import { ACTIONS, type Action, type Outcome } from './document.ts';
import { readPolicy } from './read-policy.ts';
import type { AdmissionFlags, AdmissionRules, ApprovalState, PolicySubject } from './store.ts';

/** `pending` means that the entity waits for approval. */
export type Verdict = 'allowed' | 'refused' | 'pending';

const NOT_DECIDED: ApprovalState = { own: undefined, isNameApproved: false };

const OPEN_POLICY = compilePolicy({ version: 1, rules: [], default: {} });

/** `text` is null for a hub without a policy. @throws HubError `invalid_policy` */
export function policyFrom(text: string | null): CompiledPolicy {
  return text === null ? OPEN_POLICY : compilePolicy(readPolicy(text));
}

/** `text` is null for a hub without a policy; its remotes may still have restrictions. */
export function admissionRules(text: string | null): AdmissionRules {
  const policy = policyFrom(text);
  return {
    flagsWithoutApproval(subject, now) {
      const decisions = decisionsFor(policy, subject, now);
      const isAsked = Object.values(decisions).some(({ outcome }) => outcome === 'require_approval');
      return isAsked ? undefined : flagsOf(decisions, subject, NOT_DECIDED);
    },
    flags: (subject, approval, now) => flagsOf(decisionsFor(policy, subject, now), subject, approval),
  };
}

/** Applies the rules first, and then the remote's setting. */
export function decisionsFor(policy: CompiledPolicy, subject: PolicySubject, now: Date): Decisions {
  const decisions = policy.decide(subject, now);
  const outcome = REMOTE_OUTCOMES[subject.registers];
  const { register } = decisions;
  if (outcome === undefined || STRICTNESS[register.outcome] >= STRICTNESS[outcome]) return decisions;
  const label = `the setting 'register: ${subject.registers}' of its remote`;
  return { ...decisions, register: { outcome, rule: null, label, approval: 'version' } };
}

/** Omits `register` for an entity that is never registered: it needs no approval, and rules about `register` do not affect it. */
export function actionsFor({ isRegistrable }: PolicySubject): readonly Action[] {
  return isRegistrable ? ACTIONS : ACTIONS.filter((action) => action !== 'register');
}

const REMOTE_OUTCOMES = { all: undefined, approved: 'require_approval', none: 'block' } as const;
const STRICTNESS: Record<Outcome, number> = { allow: 0, require_approval: 1, hide: 2, block: 2 };

export function verdictOf({ outcome, approval }: Decision, { own, isNameApproved }: ApprovalState): Verdict {
  if (outcome === 'allow') return 'allowed';
  if (outcome !== 'require_approval' || own === 'rejected') return 'refused';
  return own === 'approved' || (approval === 'name' && isNameApproved) ? 'allowed' : 'pending';
}

/** Explains why an install is refused, and what to do about it; undefined if it is allowed. */
export function installRefusal(
  uid: EntityUid,
  install: Decision,
  { approval, isInCatalog = true }: { approval: ApprovalState; isInCatalog?: boolean },
): string | undefined {
  const verdict = verdictOf(install, approval);
  if (verdict === 'allowed') return undefined;
  if (verdict === 'pending') {
    const advice = isInCatalog
      ? `ask an operator to approve it with 'hub approve ${uid}'`
      : 'only what a remote lists can be approved, so add it to the index of a remote';
    return `The policy requires approval before '${uid}' is installed (${install.label}): ${advice}.`;
  }
  if (install.outcome === 'require_approval') {
    const why = approval.reason ? ` (${approval.reason})` : '';
    return `A reviewer has rejected '${uid}'${why}, so it cannot be installed.`;
  }
  return `The policy does not allow '${uid}' to be installed: ${install.label} blocks it.`;
}

/** The rules' decisions about an entity; empty if they allow everything. */
export interface Standing {
  hidden_by?: string;
  held_by?: string;
  install_refusal?: string;
  approval?: { state: 'pending' | 'approved' | 'rejected'; reason: string | null };
}

export function standingOf(subject: PolicySubject, decisions: Decisions, approval: ApprovalState): Standing {
  const actions = actionsFor(subject);
  const refused = actions.filter((action) => verdictOf(decisions[action], approval) !== 'allowed');
  const refusal = installRefusal(subject.uid, decisions.install, { approval });
  const asking = actions.filter((action) => decisions[action].outcome === 'require_approval');
  const given = asking.some((action) => refused.includes(action)) ? 'pending' : 'approved';
  const state = approval.own === 'rejected' ? approval.own : given;
  return {
    ...(refused.includes('search') ? { hidden_by: decisions.search.label } : {}),
    ...(refused.includes('register') ? { held_by: decisions.register.label } : {}),
    ...(refusal === undefined ? {} : { install_refusal: refusal }),
    // The reason of an approval is for reviewers.
    ...(asking.length > 0 ? { approval: { state, reason: (state === 'rejected' && approval.reason) || null } } : {}),
  };
}

function flagsOf(decisions: Decisions, subject: PolicySubject, approval: ApprovalState): AdmissionFlags {
  const verdict = (action: Action) => verdictOf(decisions[action], approval);
  return {
    isHidden: verdict('search') !== 'allowed',
    isHeld: verdict('register') !== 'allowed',
    isInstallRefused: verdict('install') === 'refused',
    needsApproval: actionsFor(subject).some((action) => verdict(action) === 'pending'),
  };
}
