// Text that may be very long: the browser lays out only the visible part.
import { piecesOf } from './pieces.ts';

export function LongText({ text, label }: { text: string; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard must reach it
    <section class="long-text" aria-label={label} tabIndex={0}>
      {piecesOf(text).map((piece) => (
        <pre>{piece}</pre>
      ))}
    </section>
  );
}
