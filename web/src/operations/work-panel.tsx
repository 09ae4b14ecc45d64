// Running work: a progress bar for each remote, and for the registration of servers.
import type { IngestRun } from '../../../src/remotes/contract.ts';
import { FailureNotice } from '../parts/notice.tsx';
import { count, duration } from '../parts/words.ts';
import { failure, ingests, nameOf, refresh, refreshFailure, remotes, shareDone, work } from './operations-state.ts';

export function WorkPanel() {
  const own = work.value;
  const elsewhere = own ? undefined : ingests.value;
  const running = own?.progress.running ?? elsewhere?.running ?? [];
  const { registering = null, registering_total: total = null } = own?.progress ?? elsewhere ?? {};
  const isBusy = own !== undefined || running.length > 0 || registering !== null;
  return (
    <div aria-live="polite">
      {!failure.value && refreshFailure.value && (
        <FailureNotice failure={refreshFailure.value} onRetry={refresh}>
          <p>{remotes.value ? 'The data below may be out of date. ' : ''}Retrying automatically.</p>
        </FailureNotice>
      )}
      {isBusy && (
        <div class="work">
          <p class="work-name">{own?.name ?? 'Sync in progress'}</p>
          {running.map((run) => (
            <RunBar key={run.url} run={run} />
          ))}
          {registering !== null && (
            <p class="quiet">
              {registering} of {count(total ?? registering, 'server')} processed
            </p>
          )}
          {running.length === 0 && registering === null && <progress aria-label="Starting" />}
        </div>
      )}
    </div>
  );
}

function RunBar({ run }: { run: IngestRun }) {
  const share = shareDone(run);
  return (
    <div class="run">
      <p class="run-url">{nameOf(run.url)}</p>
      <progress max={1} value={share} aria-label={`Progress of ${nameOf(run.url)}`} />
      <p class="quiet">
        {share === undefined ? 'Reading the index' : `${run.done} of ${run.total}`}
        {run.per_second > 0 && `, ${Math.round(run.per_second)} a second`}
        {run.seconds_left !== null && run.seconds_left > 1 && `, about ${duration(run.seconds_left)} left`}
        {run.failed > 0 && `, ${run.failed} refused`}
      </p>
    </div>
  );
}
