// Filters for the results, with counts. The hub counts the most frequent values; others can be typed.
import { useSignal } from '@preact/signals';
import { harmless } from '../../../src/lib/harmless.ts';
import { transportName } from '../parts/transport.ts';
import { shortNumber } from '../parts/words.ts';
import { FACETS } from './facet-counts.ts';
import { answer, change, search } from './search-state.ts';
import { FILTERS, type Filter, hasFilters, withoutFilters } from './search-url.ts';

const TITLES: Record<Filter, string> = {
  capabilities: 'Capability',
  frameworks: 'Framework',
  providers: 'Provider',
  transports: 'Transport',
};

const FEW = 7;

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
        <Choice label="Pre-releases too" checked={state.prerelease} onChange={(prerelease) => change({ prerelease })} />
        <Choice
          label="Disabled entries"
          checked={state.includeInactive}
          onChange={(includeInactive) => change({ includeInactive })}
        />
        <Choice
          label="Servers outside the gateway"
          checked={!state.onlyRegistered}
          onChange={(all) => change({ onlyRegistered: !all })}
        />
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
  const chosen = search.value[filter];
  const counts = answer.value?.page.facets?.[FACETS[filter]] ?? [];
  const listed = new Set(counts.map(({ value }) => value.toLowerCase()));
  // A selected value stays listed, even without matches, so that it can be cleared.
  const gone = chosen.filter((value) => !listed.has(value.toLowerCase())).map((value) => ({ value, count: 0 }));
  const options = [...gone, ...counts];
  if (options.length === 0) return null;
  const isChosen = (value: string) => chosen.some((each) => each.toLowerCase() === value.toLowerCase());
  const matches = options.filter(({ value }) => value.toLowerCase().includes(wanted.value.trim().toLowerCase()));
  const shown = isLong.value ? matches : options.filter(({ value }, index) => index < FEW || isChosen(value));
  return (
    <fieldset class="filter">
      <legend>{TITLES[filter]}</legend>
      {isLong.value && (
        <input
          class="filter-find"
          type="search"
          placeholder={`Find or add a ${TITLES[filter].toLowerCase()}`}
          aria-label={`Find or add a ${TITLES[filter].toLowerCase()}`}
          value={wanted}
          onInput={(event) => {
            wanted.value = event.currentTarget.value;
          }}
          onKeyDown={(event) => {
            const value = wanted.value.trim();
            if (event.key !== 'Enter' || value === '' || isChosen(value)) return;
            wanted.value = '';
            change({ [filter]: [...chosen, value] });
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
      {options.length > FEW && (
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
