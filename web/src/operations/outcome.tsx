// How the last thing that somebody did went, said where it was done.
import { FailureNotice, Notice } from '../parts/notice.tsx';
import { failure, outcome, type Place, place, work } from './operations-state.ts';

export function Outcome({ of }: { of: Place }) {
  const isHere = place.value === of;
  return (
    // Always there: what comes into it later is read out.
    <div aria-live="polite">
      {isHere && failure.value && <FailureNotice failure={failure.value} />}
      {isHere && outcome.value && !work.value && <Notice tone={outcome.value.tone} title={outcome.value.sentence} />}
      {isHere && work.value && of === 'pending' && <p class="quiet">{work.value.name}…</p>}
    </div>
  );
}
