// The search field, with the type and mode selection below it.
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { EntityType } from '../../../src/catalog/uid.ts';
import type { SearchMode } from '../../../src/search/contract.ts';
import { settings } from '../api/settings.ts';
import { SearchIcon } from '../parts/icons.tsx';
import { TYPES } from '../parts/type-label.tsx';
import { shortNumber } from '../parts/words.ts';
import type { FieldKeys } from './keys/ahead.ts';
import { useKey } from './keys/keyboard.ts';
import { answer, change, search, text, type } from './search-state.ts';
import { type SearchState, SORT_NAMES, SORTS } from './search-url.ts';

const MODES: Record<SearchMode, string> = {
  hybrid: 'Keywords and meaning',
  keyword: 'Keywords only',
  semantic: 'Meaning only',
};

/** `children` are further options next to the types. */
export function SearchBox({ onDown, onUp, onEnter, children }: FieldKeys & { children: ComponentChildren }) {
  const field = useRef<HTMLInputElement>(null);
  useKey('/', () => {
    field.current?.focus();
    field.current?.select();
  });

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (event.key === 'ArrowDown') onDown();
      else onUp();
    }
    if (event.key === 'Escape' && text.value !== '') {
      event.preventDefault();
      type('');
    }
  }

  return (
    <search>
      <form
        class="search-form"
        onSubmit={(event) => {
          event.preventDefault();
          onEnter();
        }}
      >
        <SearchIcon />
        <input
          ref={field}
          class="search-field"
          type="search"
          name="q"
          aria-label="Search the catalog"
          aria-describedby="search-keys"
          placeholder="What do you need? “read tables from a PDF”"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          enterkeyhint="search"
          maxLength={500}
          value={text}
          onInput={(event) => type(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <span class="search-hint" aria-hidden="true">
          /
        </span>
        <p id="search-keys" class="unseen">
          Results appear as you type. Press Enter or the down arrow to move to them, and Enter to open one.
        </p>
      </form>
      <div class="search-options">
        <TypeChoice />
        {children}
      </div>
    </search>
  );
}

export function Selects() {
  return (
    <div class="selects">
      <label class="select">
        <span>Search by</span>
        <select
          value={search.value.mode === 'default' ? (settings.value?.search_mode ?? 'hybrid') : search.value.mode}
          onChange={(event) => change({ mode: event.currentTarget.value as SearchMode })}
        >
          {(['hybrid', 'keyword', 'semantic'] as const).map((mode) => (
            <option key={mode} value={mode}>
              {MODES[mode]}
            </option>
          ))}
        </select>
      </label>
      <SortChoice />
    </div>
  );
}

/** Without a query, nothing is relevant, so the newest entries come first. */
function SortChoice() {
  const { q, sort } = search.value;
  const isList = q.trim() === '';
  const sorts = isList ? SORTS.filter((each) => each !== 'created_at') : SORTS;
  return (
    <label class="select">
      <span>Sort by</span>
      <select
        value={isList && sort === 'created_at' ? 'relevance' : sort}
        onChange={(event) => change({ sort: event.currentTarget.value as SearchState['sort'] })}
      >
        {sorts.map((each) => (
          <option key={each} value={each}>
            {SORT_NAMES[isList && each === 'relevance' ? 'created_at' : each]}
          </option>
        ))}
      </select>
    </label>
  );
}

function TypeChoice() {
  const counted = answer.value?.page.facets?.type;
  const all = counted?.reduce((sum, { count }) => sum + count, 0);
  const countOf = (type: EntityType) => counted && (counted.find(({ value }) => value === type)?.count ?? 0);
  const choices: [SearchState['type'], string, number | undefined][] = [
    ['any', 'Everything', all],
    ...(Object.keys(TYPES) as EntityType[]).map((each): [EntityType, string, number | undefined] => [
      each,
      TYPES[each].many,
      countOf(each),
    ]),
  ];
  return (
    <fieldset class="types">
      <legend class="unseen">Type</legend>
      {choices.map(([value, label, count]) => (
        <label key={value} class="types-choice">
          <input
            type="radio"
            name="type"
            class="unseen"
            checked={search.value.type === value}
            onChange={() => change({ type: value })}
          />
          <span>
            {label}
            {count !== undefined && <span class="types-count">{shortNumber(count)}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
