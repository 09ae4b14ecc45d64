// The page that is shown after an entity was removed.
import { useEffect, useRef } from 'preact/hooks';
import type { EntityRemoved } from '../../../src/catalog/contract.ts';
import { Notice } from '../parts/notice.tsx';

export function Removed({ removal: { uid, listed_by, note } }: { removal: EntityRemoved }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <div class="entity-head">
      <h1 ref={heading} tabIndex={-1}>
        Entry removed
      </h1>
      <p>
        <code>{uid}</code> is no longer in the catalog.
      </p>
      {note && <Notice tone="warn" title={note} />}
      {listed_by.length > 0 && (
        <Notice tone="warn" title="The next sync restores it">
          <p>{listed_by.length === 1 ? 'This remote still lists it:' : 'These remotes still list it:'}</p>
          <ul>
            {listed_by.map((remote) => (
              <li key={remote} class="address">
                {remote}
              </li>
            ))}
          </ul>
          <p>To keep it out, block it once it is back.</p>
        </Notice>
      )}
      <p>
        <a href="/">Search the catalog</a>
      </p>
    </div>
  );
}
