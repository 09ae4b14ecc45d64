// How many entities another policy would change, and in which way.
import { decisionsFor } from './admission.ts';
import type { PolicyChange } from './contract.ts';
import type { CompiledPolicy } from './decide.ts';
import { ACTIONS } from './document.ts';
import type { PolicySubject } from './store.ts';

type Counted = Pick<PolicyChange, 'entities' | 'affected' | 'changes'>;

export async function countChanges(
  { before, after, now }: { before: CompiledPolicy; after: CompiledPolicy; now: Date },
  pages: AsyncIterable<readonly PolicySubject[]>,
): Promise<Counted> {
  const changes = new Map<string, Counted['changes'][number]>();
  let entities = 0;
  let affected = 0;
  for await (const page of pages) {
    entities += page.length;
    for (const subject of page) {
      const [old, next] = [before, after].map((policy) => decisionsFor(policy, subject, now));
      const changed = ACTIONS.filter((action) => old?.[action].outcome !== next?.[action].outcome);
      if (changed.length > 0) affected += 1;
      for (const action of changed) {
        const [from = 'allow', to = 'allow'] = [old?.[action].outcome, next?.[action].outcome];
        const key = `${action} ${from} ${to}`;
        const counted = changes.get(key) ?? { action, from, to, count: 0 };
        changes.set(key, { ...counted, count: counted.count + 1 });
      }
    }
  }
  return { entities, affected, changes: [...changes.values()].toSorted((a, b) => b.count - a.count) };
}
