// Selects pending servers, and removes them after a confirmation.
import { useSignal } from '@preact/signals';
import { Question } from '../../parts/dialog.tsx';
import { count, wholeNumber } from '../../parts/words.ts';
import { work } from '../operations-state.ts';
import {
  allThatMatch,
  areAllSelected,
  isFiltered,
  items,
  PAGE_SIZE,
  page,
  query,
  removeServers,
  select,
  selected,
} from './pending-state.ts';

interface Removal {
  uids: readonly string[];
  /** Describes the filter, in words that follow `servers`. */
  which: string;
}

const NOTHING: Removal = { uids: [], which: '' };

export function PendingSelection() {
  /** The subject of the confirmation; fixed while it is open. */
  const asked = useSignal(NOTHING);
  const total = page.value?.total ?? 0;
  return (
    <div class="pending-tools">
      <label class="choice">
        <input
          type="checkbox"
          checked={areAllSelected}
          onChange={(event) =>
            select(
              items.value.map(({ uid }) => uid),
              event.currentTarget.checked,
            )
          }
        />
        <span>All on this page</span>
      </label>
      <button
        type="button"
        class="button button-bad"
        disabled={selected.value.size === 0}
        onClick={() => {
          asked.value = { uids: [...selected.value], which: '' };
        }}
      >
        Remove {selected.value.size > 0 ? wholeNumber(selected.value.size) : ''} selected…
      </button>
      {total > PAGE_SIZE && (
        <button
          type="button"
          class="button button-bad"
          disabled={work.value !== undefined}
          onClick={async () => {
            const which = filterWords();
            asked.value = { uids: await allThatMatch(), which };
          }}
        >
          {removeAllLabel(total)}
        </button>
      )}
      {asked.value.uids.length > 0 && (
        <RemovalQuestion
          {...asked.value}
          onClose={() => {
            asked.value = NOTHING;
          }}
        />
      )}
    </div>
  );
}

function RemovalQuestion({ uids, which, onClose }: Removal & { onClose: () => void }) {
  return (
    <Question
      title={`Remove ${count(uids.length, 'server')}${which}?`}
      action="Remove"
      onYes={() => removeServers(uids)}
      onClose={onClose}
    >
      <p>
        {uids.length === 1
          ? 'This removes it from the catalog. If a remote still lists it, the next sync restores it.'
          : 'This removes them from the catalog. The next sync restores those that a remote still lists.'}
      </p>
    </Question>
  );
}

/** With errors, some servers may be registered and are kept; their number is known only after all are read. */
function removeAllLabel(total: number): string {
  const howMany = query.value.errorOnly ? '' : ` ${wholeNumber(total)}`;
  return `Remove all${howMany}${isFiltered.value ? ' that match' : ''}…`;
}

function filterWords(): string {
  const words = query.value.words.trim();
  const parts = [words && `match “${words}”`, query.value.errorOnly && 'have an error'].filter(Boolean);
  return parts.length > 0 ? ` that ${parts.join(' and ')}` : '';
}
