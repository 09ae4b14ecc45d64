// The published catalogs that this hub reads.
import { Notice } from '../../parts/notice.tsx';
import { remotes, syncAll, work } from '../operations-state.ts';
import { Outcome } from '../outcome.tsx';
import { NewRemote } from './new-remote.tsx';
import { RemoteRow } from './remote-row.tsx';

export function Remotes() {
  const list = remotes.value;
  return (
    <section class="panel" aria-labelledby="remotes">
      <header class="panel-head">
        <h2 id="remotes">Remotes</h2>
        <button type="button" class="button button-main" aria-disabled={work.value !== undefined} onClick={syncAll}>
          Sync all
        </button>
      </header>
      <Outcome of="remotes" />
      {list?.count === 0 && (
        <Notice title="No remotes yet">
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
