// Text to copy: a command, a configuration, a lockfile.
import { useSignal } from '@preact/signals';
import { CheckIcon, CopyIcon } from './icons.tsx';
import { LongText } from './long-text.tsx';

const SHOWN_MS = 2_000;
const LONG_TEXT = 50_000;

export function CopyBox({ text, label }: { text: string; label: string }) {
  if (text.length > LONG_TEXT) {
    return (
      <div class="copy-box">
        <LongText text={text} label={label} />
        <CopyButton text={text} label={`Copy ${label}`} />
      </div>
    );
  }
  return (
    <div class="copy-box">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard must reach it */}
      <pre class={text.includes('\n') ? '' : 'copy-line'} tabIndex={0}>
        <code>{text.includes('\n') ? text : <Words text={text} />}</code>
      </pre>
      <CopyButton text={text} label={`Copy ${label}`} />
    </div>
  );
}

/** Breaks a word only if it is longer than a line. */
function Words({ text }: { text: string }) {
  return <>{text.split(/( +)/).map((word) => (word.startsWith(' ') ? word : <span class="copy-word">{word}</span>))}</>;
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const state = useSignal<'idle' | 'copied' | 'refused'>('idle');

  async function copy(): Promise<void> {
    // Browsers provide no clipboard to pages that are loaded over plain HTTP from another machine.
    state.value = await Promise.resolve(navigator.clipboard?.writeText(text)).then(
      () => (navigator.clipboard ? 'copied' : 'refused'),
      () => 'refused',
    );
    setTimeout(() => {
      state.value = 'idle';
    }, SHOWN_MS);
  }

  const words = { idle: 'Copy', copied: 'Copied', refused: 'Select and copy' }[state.value];
  return (
    <button type="button" class="button button-small" onClick={copy} aria-label={label}>
      {state.value === 'copied' ? <CheckIcon /> : <CopyIcon />}
      <span aria-live="polite">{words}</span>
    </button>
  );
}
