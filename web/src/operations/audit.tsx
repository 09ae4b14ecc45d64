// The audit log, for administrators.
import { useSignal } from '@preact/signals';
import { howItEnded, whatWasDone, whoDidIt } from '../../../src/access/audit-for-people.ts';
import type { AuditEntry } from '../../../src/access/contract.ts';
import type { HubFailure } from '../api/failure.ts';
import { hub } from '../api/hub.ts';
import { asFailure } from '../api/problem.ts';
import { FailureNotice } from '../parts/notice.tsx';
import { ScrollTable } from '../parts/scroll-table.tsx';
import { atMoment } from '../parts/words.ts';

const PAGE_SIZE = 20;
const COLUMNS = ['When', 'Who', 'What', 'Subject', 'Outcome'];

export function Audit() {
  const entries = useSignal<readonly AuditEntry[] | undefined>(undefined);
  const next = useSignal<string | null>(null);
  const failure = useSignal<HubFailure | undefined>(undefined);

  async function load(before: string | null): Promise<void> {
    try {
      const page = await hub.audit(PAGE_SIZE, before);
      entries.value = before === null ? page.items : [...(entries.value ?? []), ...page.items];
      next.value = page.next;
      failure.value = undefined;
    } catch (error) {
      failure.value = asFailure(error);
    }
  }
  const open = () => load(null);

  return (
    <section class="panel" aria-labelledby="audit">
      <h2 id="audit">Audit log</h2>
      <details onToggle={(event) => event.currentTarget.open && open()}>
        <summary>Who changed what</summary>
        {failure.value && <FailureNotice failure={failure.value} onRetry={open} />}
        {entries.value?.length === 0 && <p class="quiet">Nothing has been changed yet.</p>}
        {entries.value && entries.value.length > 0 && <AuditTable entries={entries.value} />}
        {next.value && (
          <button type="button" class="button" onClick={() => load(next.value)}>
            Show older entries
          </button>
        )}
      </details>
    </section>
  );
}

function AuditTable({ entries }: { entries: readonly AuditEntry[] }) {
  return (
    <ScrollTable columns={COLUMNS}>
      {entries.map((entry) => (
        <tr key={entry.id}>
          <td class="run-time">{atMoment(entry.at)}</td>
          <td>{whoDidIt(entry)}</td>
          <td>{whatWasDone(entry)}</td>
          <td class="run-remote">
            <span class="address">{entry.subject}</span>
            {entry.detail && <span class="quiet"> {entry.detail}</span>}
          </td>
          <td class="run-remote">
            <span class={entry.outcome === 'ok' ? undefined : 'run-error'}>{howItEnded(entry)}</span>
          </td>
        </tr>
      ))}
    </ScrollTable>
  );
}
