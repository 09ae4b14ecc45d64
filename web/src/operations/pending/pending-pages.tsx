// The pagination of pending servers.
import { wholeNumber } from '../../parts/words.ts';
import { ask, PAGE_SIZE, page, query } from './pending-state.ts';

export function PendingPages() {
  const { offset } = query.value;
  const total = page.value?.total ?? 0;
  if (total <= PAGE_SIZE) return null;
  return (
    <nav class="pages" aria-label="Pages of pending servers">
      <button
        type="button"
        class="button button-small"
        disabled={offset === 0}
        onClick={() => ask({ offset: Math.max(0, offset - PAGE_SIZE) })}
      >
        Newer
      </button>
      <span>
        {wholeNumber(offset + 1)} to {wholeNumber(Math.min(offset + PAGE_SIZE, total))} of {wholeNumber(total)}
      </span>
      <button
        type="button"
        class="button button-small"
        disabled={offset + PAGE_SIZE >= total}
        onClick={() => ask({ offset: offset + PAGE_SIZE })}
      >
        Older
      </button>
    </nav>
  );
}
