// A badge for entities that should no longer be used; active ones have none.
import type { LifecycleStatus } from '../../../src/catalog/manifest.ts';

const MEANINGS: Record<Exclude<LifecycleStatus, 'active'>, string> = {
  deprecated: 'Its publisher advises against using it in new projects.',
  disabled: 'Its publisher has withdrawn it.',
};

export function StatusBadge({ status }: { status: LifecycleStatus }) {
  if (status === 'active') return null;
  return (
    <span class={`badge badge-${status}`} title={MEANINGS[status]}>
      {status}
    </span>
  );
}
