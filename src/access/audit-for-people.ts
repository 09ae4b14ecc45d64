// Entries of the audit log and callers in plain words, for the page and the command line.
import type { AuditEntry } from './contract.ts';

/** `ada · operator · 10.0.0.7`; HTTP is the usual way and is left out. */
export function whoDidIt(entry: Pick<AuditEntry, 'caller' | 'caller_kind' | 'role' | 'via' | 'address'>): string {
  const { caller, caller_kind, role, via, address } = entry;
  const name = caller_kind === 'anybody' ? 'no token' : caller_kind === 'token' ? caller : `${caller} (${caller_kind})`;
  return [name, role, via === 'http' ? '' : via, address].filter(Boolean).join(' · ');
}

/** Follows what was done: `by ada`. The hub stores `anonymous` for callers without a token. */
export function byWhom(caller: string | null): string {
  return caller === null || caller === 'anonymous' ? 'by a caller without a token' : `by ${caller}`;
}

/** Operations whose names do not read well when they are split. */
const SPECIAL_WORDS: Readonly<Record<string, string>> = {
  setServerStatus: 'Change status',
  removeEntity: 'Remove from the catalog',
  blockEntity: 'Block',
  unblockEntity: 'Unblock',
  checkTrust: 'Check signatures',
  removePending: 'Remove pending server',
  removeManyPending: 'Remove pending servers',
  decideApproval: 'Decide on approval',
  createToken: 'Add token',
  revokeToken: 'Remove token',
};

/** `syncRemotes` → `Sync remotes` */
export function whatWasDone({ operation }: Pick<AuditEntry, 'operation'>): string {
  const special = SPECIAL_WORDS[operation];
  if (special) return special;
  const words = operation.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The operation whose words these are; its own name stays as it is. */
export function operationOf(words: string): string {
  const special = Object.entries(SPECIAL_WORDS).find(([, each]) => each.toLowerCase() === words.toLowerCase());
  if (special) return special[0];
  const joined = words.replaceAll(/ (\w)/g, (_, letter: string) => letter.toUpperCase());
  return joined.charAt(0).toLowerCase() + joined.slice(1);
}

export function howItEnded({ outcome, result }: Pick<AuditEntry, 'outcome' | 'result'>): string {
  return result ? `${outcome}: ${result}` : outcome;
}
