// Shows text that is too long to render as Markdown.
import { useSignal } from '@preact/signals';
import { LongText } from '../parts/long-text.tsx';
import { count } from '../parts/words.ts';

export function RawText({ text }: { text: string }) {
  const isOpen = useSignal(false);
  return (
    <div class="raw-text">
      <p class="quiet">The text has {count(text.length, 'character')}; only its beginning is shown.</p>
      <details
        onToggle={(event) => {
          isOpen.value = event.currentTarget.open;
        }}
      >
        <summary>Show the full text</summary>
        {isOpen.value && <LongText text={text} label="The readme as it was written" />}
      </details>
    </div>
  );
}
