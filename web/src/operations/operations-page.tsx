// Running the hub: its health, its remotes, their ingests, entries to look at, and pending servers.
import { useEffect } from 'preact/hooks';
import { areSettingsAsked, mayAct, needsTokenFor } from '../api/settings.ts';
import { forgetToken, token } from '../api/token.ts';
import { TokenForm } from '../parts/token-form.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { Attention } from './attention.tsx';
import { Audit } from './audit.tsx';
import { Glance } from './glance.tsx';
import { History } from './history.tsx';
import { failure, look } from './operations-state.ts';
import { Pending } from './pending.tsx';
import { Remotes } from './remotes.tsx';
import { WorkPanel } from './work-panel.tsx';

const EVERY_MS = 3_000;

export function OperationsPage() {
  useEffect(() => {
    document.title = 'Operations · Catalog Hub';
    void look();
    // A sync may be started at any time, by somebody else or by the clock. One's own reports how far it is, but not
    // what it has brought so far: remotes are read long before their servers are registered.
    const lookAgain = () => {
      if (!document.hidden) void look();
    };
    const timer = setInterval(lookAgain, EVERY_MS);
    document.addEventListener('visibilitychange', lookAgain);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', lookAgain);
    };
  }, []);

  const needsToken = needsTokenFor('operator');
  const isRefused = failure.value?.kind === 'unauthorized';
  return (
    <main id="content" class="operations-page">
      <header class="page-head">
        <h1>Operations</h1>
        {token.value !== '' && (
          <button type="button" class="button" onClick={forgetToken}>
            Forget the token
          </button>
        )}
      </header>
      <Glance />
      {!areSettingsAsked.value && <Waiting>The hub is being asked …</Waiting>}
      {areSettingsAsked.value && (needsToken || isRefused ? <TokenPanel isRefused={isRefused} /> : <Panels />)}
    </main>
  );
}

function TokenPanel({ isRefused }: { isRefused: boolean }) {
  return (
    <section class="panel" aria-labelledby="token">
      <h2 id="token">Operators only</h2>
      <TokenForm
        neededRole="operator"
        isRefused={isRefused}
        why="Remotes and pending servers need the hub’s token."
        onKept={() => {
          failure.value = undefined;
        }}
      />
    </section>
  );
}

function Panels() {
  return (
    <>
      <WorkPanel />
      <Remotes />
      <History />
      <Attention />
      <Pending />
      {mayAct('admin') && <Audit />}
    </>
  );
}
