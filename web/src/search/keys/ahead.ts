// Keys that are pressed before the results arrive apply to the new results, not to the visible ones.
import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { failure, isLoading, retry, submitText, text } from '../search-state.ts';
import { moveFocus } from './keyboard.ts';

interface Ahead {
  /** The query; if it changes before the response, the key is dropped. */
  words: string;
  index: number;
  opens: boolean;
}

export interface FieldKeys {
  onDown: () => void;
  onUp: () => void;
  onEnter: () => void;
}

/** Keys in the search field apply at once if the list is current, otherwise when the response arrives. */
export function useKeysAhead(links: () => HTMLElement[]): FieldKeys {
  const ahead = useSignal<Ahead | undefined>(undefined);
  const wanted = ahead.value;
  const isAwaited = isLoading.value;

  useLayoutEffect(() => {
    if (!wanted || isAwaited) return;
    ahead.value = undefined;
    const isStillMeant = wanted.words === text.value && document.activeElement?.matches('.search-field');
    if (!isStillMeant || failure.value) return;
    const all = links();
    if (wanted.opens) all[Math.min(wanted.index, all.length - 1)]?.click();
    // Moves from the field, which comes before the first result.
    else moveFocus(all, wanted.index + 1);
  }, [wanted, isAwaited]);

  const last = () => (ahead.value?.words === text.value ? ahead.value : undefined);
  function want(index: number, opens: boolean): void {
    submitText();
    ahead.value = index < 0 ? undefined : { words: text.value, index, opens };
  }

  return {
    onDown: () => {
      // After a failure, the earlier results stay reachable.
      if (failure.value && !isLoading.value) moveFocus(links(), 'first');
      else want((last()?.index ?? -1) + 1, last()?.opens ?? false);
    },
    onUp: () => {
      const before = last();
      if (before) want(before.index - 1, before.opens);
    },
    // The first Enter moves to the first result. After another key, Enter opens the result that this key moved to.
    onEnter: () => {
      submitText();
      if (failure.value && !isLoading.value) retry();
      want(last()?.index ?? 0, last() !== undefined);
    },
  };
}
