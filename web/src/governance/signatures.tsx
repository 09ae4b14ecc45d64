// The signatures of an entity's artifacts, and a button that checks them.
import { useSignal } from '@preact/signals';
import type { Trust } from '../../../src/catalog/contract.ts';
import { signalLine } from '../../../src/catalog/trust-signals.ts';
import type { HubFailure } from '../api/failure.ts';
import { hub } from '../api/hub.ts';
import { asFailure } from '../api/problem.ts';
import { mayAct } from '../api/settings.ts';
import { CheckIcon, CrossIcon, DashIcon } from '../parts/icons.tsx';
import { FailureNotice } from '../parts/notice.tsx';
import { onDay } from '../parts/words.ts';

interface SignaturesProps {
  id: string;
  trust: Trust;
  onChecked: (trust: Trust) => void;
}

export function Signatures({ id, trust, onChecked }: SignaturesProps) {
  const isChecking = useSignal(false);
  const failure = useSignal<HubFailure | undefined>(undefined);
  const note = useSignal('');
  async function check(): Promise<void> {
    isChecking.value = true;
    failure.value = undefined;
    try {
      const checked = await hub.checkTrust(id);
      note.value = checked.note ?? '';
      onChecked(checked);
    } catch (error) {
      failure.value = asFailure(error);
    }
    isChecking.value = false;
  }
  return (
    <>
      {trust.signals.length === 0 && <p class="quiet">It installs nothing that could be signed.</p>}
      <ul class="reasons">
        {trust.signals.map((signal) => (
          <li key={signalLine(signal)} class={signal.state === 'verified' ? 'met' : 'unmet'}>
            <StateIcon state={signal.state} />
            <span>{signalLine(signal)}</span>
          </li>
        ))}
      </ul>
      {trust.checked_at && <p class="quiet">Checked on {onDay(trust.checked_at)}.</p>}
      {mayAct('operator') && trust.signals.length > 0 && (
        <button type="button" class="button button-small" disabled={isChecking.value} onClick={check}>
          {isChecking.value ? 'Checking…' : 'Check signatures'}
        </button>
      )}
      <p role="status">{note}</p>
      {failure.value && <FailureNotice failure={failure.value} />}
    </>
  );
}

function StateIcon({ state }: { state: Trust['state'] }) {
  if (state === 'verified') return <CheckIcon />;
  return state === 'failed' ? <CrossIcon /> : <DashIcon />;
}
