// The operations page: the hub's health, its remotes and their ingests, entries that need attention, and pending servers.
import { useEffect } from 'preact/hooks';
import { mayAct } from '../api/settings.ts';
import { Views } from '../governance/views.tsx';
import { OperatorsOnly } from '../parts/operators-only.tsx';
import { Attention } from './attention.tsx';
import { Audit } from './audit.tsx';
import { History } from './history/history.tsx';
import { failure, refresh } from './operations-state.ts';
import { Pending } from './pending/pending.tsx';
import { Remotes } from './remotes/remotes.tsx';
import { HealthPanel } from './status/health-panel.tsx';
import { Webhooks } from './webhooks.tsx';
import { WorkPanel } from './work-panel.tsx';

const EVERY_MS = 3_000;

export function OperationsPage() {
  useEffect(() => {
    void refresh();
    // Another person or the scheduler may start a sync at any time. A sync started here reports its progress, but not its
    // results so far, although remotes are read long before their servers are registered.
    const lookAgain = () => {
      if (!document.hidden) void refresh();
    };
    const timer = setInterval(lookAgain, EVERY_MS);
    document.addEventListener('visibilitychange', lookAgain);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', lookAgain);
    };
  }, []);

  return (
    <OperatorsOnly title="Operations" failure={failure} open={<HealthPanel />}>
      <Panels />
    </OperatorsOnly>
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
      <Views />
      {mayAct('admin') && <Webhooks />}
      {mayAct('admin') && <Audit />}
    </>
  );
}
