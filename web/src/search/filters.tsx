// Filters for the results, with counts. The hub counts the most frequent values; it finds the others by what is typed.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { transportName } from '../../../src/catalog/transport.ts';
import { harmless } from '../../../src/lib/harmless.ts';
import { asFailure, isAborted } from '../api/problem.ts';
import { settings } from '../api/settings.ts';
import { shortNumber } from '../parts/words.ts';
import { countsOf, FACETS, type FilterCounts } from './facet-counts.ts';
import { answer, change, search } from './search-state.ts';
import { FILTERS, type Filter, hasFilters, hubParameters, withoutFilters } from './search-url.ts';

const TITLES: Record<Filter, string> = {
  capabilities: 'Capability or tag',
  frameworks: 'Framework',
  providers: 'Provider',
  transports: 'Transport',
};

const FEW = 7;
const TYPING_PAUSE_MS = 150;
/** The hub's limit for a filter value. */
const LONGEST_VALUE = 200;

export function Filters() {
  const state = search.value;
  return (
    <div class="filters">
      {FILTERS.map((filter) => (
        <FilterGroup key={filter} filter={filter} />
      ))}
      <fieldset class="filter">
        <legend>Also show</legend>
        <Choice label="Every version" checked={state.allVersions} onChange={(allVersions) => change({ allVersions })} />
        <Choice label="Pre-releases" checked={state.prerelease} onChange={(prerelease) => change({ prerelease })} />
        <Choice
          label="Disabled and missing entries"
          checked={state.includeInactive}
          onChange={(includeInactive) => change({ includeInactive })}
        />
        {(settings.value?.gateway_configured || state.onlyRegistered) && (
          <Choice
            label="Servers not in the gateway"
            checked={!state.onlyRegistered}
            onChange={(all) => change({ onlyRegistered: !all })}
          />
        )}
      </fieldset>
      {hasFilters(state) && (
        <button type="button" class="button" onClick={() => change(withoutFilters(state))}>
          Clear all filters
        </button>
      )}
    </div>
  );
}

function FilterGroup({ filter }: { filter: Filter }) {
  const isLong = useSignal(false);
  const wanted = useSignal('');
  const title = TITLES[filter].toLowerCase();
  const chosen = search.value[filter];
  const page = answer.value?.page;
  const most = page?.facets?.[FACETS[filter]] ?? [];
  const known = { values: most, total: page?.facet_totals?.[FACETS[filter]] ?? most.length };
  const hasMore = known.total > most.length;
  const text = isLong.value ? wanted.value.trim() : '';
  const found = useFound(filter, hasMore ? text : '');
  const { values, total } = found?.counts ?? known;
  const isAmong = (list: readonly string[], value: string) =>
    list.some((each) => each.toLowerCase() === value.toLowerCase());
  const listed = values.map(({ value }) => value);
  // A selected value stays listed, even without matches, so that it can be cleared.
  const others = chosen.filter((value) => !isAmong(listed, value));
  const options = [...others.map((value) => ({ value, count: hasMore ? undefined : 0 })), ...values];
  if (chosen.length === 0 && most.length === 0) return null;
  const isChosen = (value: string) => isAmong(chosen, value);
  const matches = options.filter(({ value }) => value.toLowerCase().includes(text.toLowerCase()));
  const shown = isLong.value ? matches : options.filter(({ value }, index) => index < FEW || isChosen(value));
  const part = total > values.length ? `${values.length} of ${total}. Type to find the others.` : '';
  const note = shown.length > 0 ? part : `No ${title} contains “${text}”. Press Enter to filter by it anyway.`;
  return (
    <fieldset class="filter">
      <legend>{TITLES[filter]}</legend>
      {isLong.value && (
        <input
          class="filter-find"
          type="search"
          placeholder="Find or add"
          aria-label={`Find or add a ${title}`}
          maxLength={LONGEST_VALUE}
          value={wanted}
          onInput={(event) => {
            wanted.value = event.currentTarget.value;
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || text === '' || isChosen(text)) return;
            wanted.value = '';
            change({ [filter]: [...chosen, text] });
          }}
        />
      )}
      {shown.map(({ value, count }) => (
        <Choice
          key={value}
          label={filter === 'transports' ? transportName(value) : value}
          count={count}
          checked={isChosen(value)}
          onChange={(isOn) => change({ [filter]: isOn ? [...chosen, value] : without(chosen, value) })}
        />
      ))}
      {isLong.value && (
        <p class="quiet" role="status">
          {found?.isAwaited ? 'Looking for more…' : (found?.failure ?? note)}
        </p>
      )}
      {known.total > FEW && (
        <button
          type="button"
          class="link-button"
          aria-expanded={isLong.value}
          onClick={() => {
            isLong.value = !isLong.value;
          }}
        >
          {isLong.value ? 'Show fewer' : 'All values'}
        </button>
      )}
    </fieldset>
  );
}

interface Found {
  counts?: FilterCounts;
  isAwaited?: boolean;
  failure?: string;
}

/** The values that contain the text, requested after a pause in typing. Undefined without a text. */
function useFound(filter: Filter, text: string): Found | undefined {
  const found = useSignal<Found>({});
  const parameters = hubParameters(search.value);
  useEffect(() => {
    // The previous values stay until the new ones arrive.
    found.value = text === '' ? {} : { counts: found.value.counts, isAwaited: true };
    if (text === '') return;
    const asking = new AbortController();
    const timer = setTimeout(async () => {
      try {
        found.value = { counts: await countsOf(filter, parameters, { signal: asking.signal, text }) };
      } catch (error) {
        if (!isAborted(error)) found.value = { failure: asFailure(error).message };
      }
    }, TYPING_PAUSE_MS);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [text, parameters.toString()]);
  return text === '' ? undefined : found.value;
}

interface ChoiceProps {
  label: string;
  count?: number;
  checked: boolean;
  onChange: (isOn: boolean) => void;
}

function Choice({ label, count, checked, onChange }: ChoiceProps) {
  return (
    <label class="choice">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span class="choice-label">{harmless(label)}</span>
      {count !== undefined && <span class="choice-count">{shortNumber(count)}</span>}
    </label>
  );
}

function without(values: readonly string[], value: string): string[] {
  return values.filter((each) => each.toLowerCase() !== value.toLowerCase());
}
