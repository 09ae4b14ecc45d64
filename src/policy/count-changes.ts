// Counts how many entities a new policy would affect, and how.
import { actionsFor, decisionsFor } from './admission.ts';
import type { PolicyChange } from './contract.ts';
import type { CompiledPolicy, Decision } from './decide.ts';
import type { Outcome } from './document.ts';
import type { ApprovalState, PolicyStore, PolicySubject } from './store.ts';

type Counted = Pick<PolicyChange, 'entities' | 'affected' | 'changes'>;

export async function countChanges(
  { before, after, now }: { before: CompiledPolicy; after: CompiledPolicy; now: Date },
  pages: AsyncIterable<readonly PolicySubject[]>,
  { approvalsOf }: Pick<PolicyStore, 'approvalsOf'>,
): Promise<Counted> {
  const changes = new Map<string, Counted['changes'][number]>();
  let entities = 0;
  let affected = 0;
  for await (const page of pages) {
    entities += page.length;
    const judged = page.map((subject) => {
      const old = decisionsFor(before, subject, now);
      const next = decisionsFor(after, subject, now);
      const changed = actionsFor(subject).filter((action) => !isSame(old[action], next[action]));
      return { subject, changed: changed.map((action) => ({ action, old: old[action], next: next[action] })) };
    });
    const asking = judged.filter(({ changed }) => changed.some(({ old, next }) => isByName(old) || isByName(next)));
    const approvalOf = await approvalsOf(asking.map(({ subject }) => subject));
    for (const { subject, changed } of judged) {
      const effects = changed
        .map(({ action, old, next }) => {
          const approval = approvalOf(subject);
          return { action, from: effectOf(old, approval), to: effectOf(next, approval) };
        })
        .filter(({ from, to }) => from !== to);
      if (effects.length > 0) affected += 1;
      for (const { action, from, to } of effects) {
        const key = `${action} ${from} ${to}`;
        changes.set(key, { action, from, to, count: (changes.get(key)?.count ?? 0) + 1 });
      }
    }
  }
  return { entities, affected, changes: [...changes.values()].toSorted((a, b) => b.count - a.count) };
}

function isSame(old: Decision, next: Decision): boolean {
  return old.outcome === next.outcome && isByName(old) === isByName(next);
}

function isByName({ outcome, approval }: Decision): boolean {
  return outcome === 'require_approval' && approval === 'name';
}

/** With `approval: name`, an approval of another version also covers this one. */
function effectOf(decision: Decision, { own, isNameApproved }: ApprovalState): Outcome {
  return isByName(decision) && own === undefined && isNameApproved ? 'allow' : decision.outcome;
}
