// Says what is being loaded: immediately to screen readers, and after a second on screen.
import type { ComponentChildren } from 'preact';

export function Waiting({ children }: { children: ComponentChildren }) {
  return (
    <p class="waiting" role="status">
      {children}
    </p>
  );
}
