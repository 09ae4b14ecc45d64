// What is awaited, in words: at once for those who listen, and after a second for those who look.
import type { ComponentChildren } from 'preact';

export function Waiting({ children }: { children: ComponentChildren }) {
  return (
    <p class="waiting" role="status">
      {children}
    </p>
  );
}
