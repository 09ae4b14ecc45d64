// One remote: its settings, the result of its last sync, and its actions.
import { useSignal } from '@preact/signals';
import type { Remote } from '../../../../src/remotes/contract.ts';
import { Question } from '../../parts/dialog.tsx';
import { ago, atMoment, count } from '../../parts/words.ts';
import { ingestOne, work } from '../operations-state.ts';
import { EditRemote } from './edit-remote.tsx';
import { Rejections } from './rejections.tsx';
import { RemoveRemote } from './remove-remote.tsx';

export function RemoteRow({ remote }: { remote: Remote }) {
  const { url, name, last_sync_at, last_error, last_note } = remote;
  return (
    <li class="row">
      <div class="row-main">
        <p class="row-title">
          {name ?? url} <Badges remote={remote} />
        </p>
        {name && <p class="quiet address">{url}</p>}
        <LastSync remote={remote} />
        {last_error && <p class="reason reason-bad">{failedSentence(last_error)}</p>}
        {last_note && <p class="reason">{last_note}</p>}
        {last_sync_at && <Rejections key={last_sync_at} url={url} />}
      </div>
      <Actions remote={remote} />
    </li>
  );
}

function Badges({ remote: { enabled, credentials, priority } }: { remote: Remote }) {
  return (
    <>
      {!enabled && (
        <span class="badge badge-deprecated" title="Syncs skip it.">
          disabled
        </span>
      )}
      {credentials && (
        <span class="badge" title="Requests to it carry credentials.">
          private
        </span>
      )}
      {priority !== 0 && <span class="badge">priority {priority}</span>}
    </>
  );
}

function LastSync({ remote: { last_sync_at, last_status, entities } }: { remote: Remote }) {
  const hasFailed = last_status === 'failed';
  return (
    <p class="quiet">
      {last_sync_at ? (
        <time dateTime={last_sync_at} title={atMoment(last_sync_at)}>
          {hasFailed ? 'Tried' : 'Read'} {ago(last_sync_at)}
        </time>
      ) : (
        'Never read'
      )}
      {' · '}
      {count(entities, 'manifest')}
      {hasFailed && entities > 0 && ' from an earlier read'}
      {hasFailed && (
        <>
          {' '}
          <span class="badge badge-disabled">failed</span>
        </>
      )}
    </p>
  );
}

function Actions({ remote }: { remote: Remote }) {
  const dialog = useSignal<'none' | 'accept' | 'edit' | 'remove'>('none');
  const open = (which: 'accept' | 'edit' | 'remove') => () => {
    dialog.value = which;
  };
  const close = () => {
    dialog.value = 'none';
  };
  const whose = <span class="unseen"> ({remote.name ?? remote.url})</span>;
  return (
    <div class="row-actions">
      <button
        type="button"
        class="button button-small"
        aria-disabled={work.value !== undefined}
        onClick={() => ingestOne(remote.url)}
      >
        Ingest now{whose}
      </button>
      {remote.shrunk && (
        <button type="button" class="button button-small" disabled={work.value !== undefined} onClick={open('accept')}>
          Accept smaller index{whose}
        </button>
      )}
      <button type="button" class="button button-small" onClick={open('edit')}>
        Edit{whose}
      </button>
      <button type="button" class="button button-small" onClick={open('remove')}>
        Remove{whose}
      </button>
      {dialog.value === 'accept' && <AcceptShrunk remote={remote} onClose={close} />}
      {dialog.value === 'edit' && <EditRemote remote={remote} onClose={close} />}
      {dialog.value === 'remove' && <RemoveRemote remote={remote} onClose={close} />}
    </div>
  );
}

function AcceptShrunk({ remote: { url }, onClose }: { remote: Remote; onClose: () => void }) {
  return (
    <Question
      title="Accept the smaller index?"
      action="Accept"
      onYes={() => ingestOne(url, { acceptShrunk: true })}
      onClose={onClose}
    >
      <p class="address">{url}</p>
      <p>
        The hub reads the index again. Entries that no remote lists stay in the catalog, but are hidden from search.
      </p>
    </Question>
  );
}

/** Most errors of remotes continue a sentence that starts with the address: `answered 404`. */
function failedSentence(error: string): string {
  return /^[a-z]/.test(error) ? `It ${error.replace(/[.\s]+$/, '')}.` : error;
}
