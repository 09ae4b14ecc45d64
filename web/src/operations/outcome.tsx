// The result of the last action, shown in the panel where it was started.
import { FailureNotice, Notice } from '../parts/notice.tsx';
import { EntityLinks } from './entity-links.tsx';
import type { OutcomeNote } from './ingest-words.ts';
import { failure, outcome, type Panel, panel, work } from './operations-state.ts';

export function Outcome({ of }: { of: Panel }) {
  const isHere = panel.value === of;
  const words = work.value ? undefined : outcome.value;
  return (
    // Always in the document, so that screen readers announce its changes.
    <div aria-live="polite">
      {isHere && failure.value && <FailureNotice failure={failure.value} />}
      {isHere && words && (
        <Notice tone={words.tone} title={words.sentence}>
          <Changed ids={words.changed ?? []} />
          <Notes notes={words.notes ?? []} />
        </Notice>
      )}
      {isHere && work.value && of === 'pending' && <p class="quiet">{work.value.name}…</p>}
    </div>
  );
}

function Notes({ notes }: { notes: readonly OutcomeNote[] }) {
  if (notes.length === 0) return null;
  return (
    <div class="outcome-part">
      <h3>Notes</h3>
      <ul>
        {notes.map(({ remote, text }) => (
          <li key={`${remote} ${text}`}>
            {remote && <span class="outcome-remote">{remote}: </span>}
            {text}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Changed({ ids }: { ids: readonly string[] }) {
  if (ids.length === 0) return null;
  return (
    <div class="outcome-part">
      <h3>Content changed</h3>
      <EntityLinks ids={ids} />
    </div>
  );
}
