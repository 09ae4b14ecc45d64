// Keys that are pressed before the results arrive apply to the new results, not to those on screen.
import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { failure, isLoading, retry, submitText, text } from '../search-state.ts';
import { moveFocus } from './keyboard.ts';

interface Ahead {
  /** The query; after more typing the answer is discarded. */
  words: string;
  place: number;
  opens: boolean;
}

export interface FieldKeys {
  onDown: () => void;
  onUp: () => void;
  onOpen: () => void;
}

/** What keys in the search field do to the list: at once where it is the answer already, otherwise as soon as it is. */
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
    if (wanted.opens) all[Math.min(wanted.place, all.length - 1)]?.click();
    // From the field, which is before the first.
    else moveFocus(all, wanted.place + 1);
  }, [wanted, isAwaited]);

  const last = () => (ahead.value?.words === text.value ? ahead.value : undefined);
  function want(place: number, opens: boolean): void {
    submitText();
    ahead.value = place < 0 ? undefined : { words: text.value, place, opens };
  }

  return {
    onDown: () => {
      // What was found before stays in reach where nothing else could be had.
      if (failure.value && !isLoading.value) moveFocus(links(), 'first');
      else want((last()?.place ?? -1) + 1, last()?.opens ?? false);
    },
    onUp: () => {
      const before = last();
      if (before) want(before.place - 1, before.opens);
    },
    onOpen: () => {
      submitText();
      if (failure.value && !isLoading.value) retry();
      want(last()?.place ?? 0, true);
    },
  };
}
