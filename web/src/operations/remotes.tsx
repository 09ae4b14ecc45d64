// The published catalogs that this hub reads.
import { useSignal } from '@preact/signals';
import type { Remote } from '../../../src/remotes/contract.ts';
import { Question } from '../parts/dialog.tsx';
import { Notice } from '../parts/notice.tsx';
import { ago, atMoment, count } from '../parts/words.ts';
import { NewRemote } from './new-remote.tsx';
import { ingestOne, remotes, removeRemote, syncAll, work } from './operations-state.ts';
import { Outcome } from './outcome.tsx';
import { Rejections } from './rejections.tsx';

export function Remotes() {
  const list = remotes.value;
  return (
    <section class="panel" aria-labelledby="remotes">
      <header class="panel-head">
        <h2 id="remotes">Remotes</h2>
        <button
          type="button"
          class="button button-main"
          disabled={work.value !== undefined}
          onClick={() => syncAll(false)}
        >
          Sync all
        </button>
      </header>
      <Outcome of="remotes" />
      {list?.count === 0 && (
        <Notice title="No remote yet">
          <p>Add the address of a published index, or of an MCP registry’s list of servers.</p>
        </Notice>
      )}
      {list && list.count > 0 && (
        <ul class="rows">
          {list.items.map((remote) => (
            <RemoteRow key={remote.url} remote={remote} />
          ))}
        </ul>
      )}
      <NewRemote />
    </section>
  );
}

function RemoteRow({ remote }: { remote: Remote }) {
  const { url, last_sync_at, last_status, last_error, entities } = remote;
  const isAsking = useSignal(false);
  return (
    <li class="row">
      <div class="row-main">
        <p class="row-title">{url}</p>
        <p class="quiet">
          {last_sync_at ? (
            <time dateTime={last_sync_at} title={atMoment(last_sync_at)}>
              {last_status === 'failed' ? 'Tried' : 'Read'} {ago(last_sync_at)}
            </time>
          ) : (
            'Never read'
          )}
          {' · '}
          {count(entities, 'manifest')}
          {last_status === 'failed' && entities > 0 && ' of an earlier time'}
          {last_status === 'failed' && (
            <>
              {' '}
              <span class="badge badge-disabled">failed</span>
            </>
          )}
        </p>
        {last_error && <p class="reason reason-bad">{failedSentence(last_error)}</p>}
        {last_sync_at && <Rejections key={last_sync_at} url={url} />}
      </div>
      <div class="row-actions">
        <button
          type="button"
          class="button button-small"
          disabled={work.value !== undefined}
          onClick={() => ingestOne(url)}
        >
          Read now<span class="unseen"> {url}</span>
        </button>
        <button
          type="button"
          class="button button-small"
          onClick={() => {
            isAsking.value = true;
          }}
        >
          Remove<span class="unseen"> {url}</span>
        </button>
      </div>
      {isAsking.value && (
        <Question
          title="Remove this remote?"
          action="Remove"
          onYes={() => removeRemote(url)}
          onClose={() => {
            isAsking.value = false;
          }}
        >
          <p class="address">{url}</p>
          <p>It is not read any more. What came from it stays in the catalog.</p>
        </Question>
      )}
    </li>
  );
}

/** Most errors of remotes go on after an address: `answered 404`. */
function failedSentence(error: string): string {
  return /^[a-z]/.test(error) ? `It ${error.replace(/[.\s]+$/, '')}.` : error;
}
