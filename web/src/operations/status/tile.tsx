// One metric or state of the hub.
import type { ComponentChildren } from 'preact';
import type { TileWords } from './tile-words.ts';

export function Tile({ name, value, note, tone = 'plain', children }: TileProps) {
  return (
    <div class={`tile tile-${tone}`}>
      <dt>{name}</dt>
      <dd>
        <span class="tile-value">
          {tone !== 'plain' && <span class="tile-dot" aria-hidden="true" />}
          {value}
        </span>
        <span class="tile-note">
          {note}
          {children}
        </span>
      </dd>
    </div>
  );
}

interface TileProps extends TileWords {
  name: string;
  /** Actions or advice. */
  children?: ComponentChildren;
}
