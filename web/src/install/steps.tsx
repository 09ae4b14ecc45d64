// The steps of an install: results, durations and errors.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isNotForGateway } from '../../../src/gateway/state-words.ts';
import type { StepResult } from '../../../src/install/contract.ts';
import { asObjects } from '../../../src/lib/json.ts';
import { CopyBox } from '../parts/copy-box.tsx';
import { CheckIcon, CrossIcon, DashIcon } from '../parts/icons.tsx';
import { duration } from '../parts/words.ts';
import type { ShownStep } from './shown-steps.ts';
import { Warning } from './warnings.tsx';

const NAMES: Readonly<Record<string, string>> = {
  'pypi.install': 'Install the Python package',
  'npm.install': 'Install the npm package',
  'oci.pull': 'Pull the image',
  'git.checkout': 'Check out the repository',
  'zip.extract': 'Fetch and unpack the archive',
  'mcpb.extract': 'Fetch and unpack the bundle',
  'remote.skip': 'A remote address: nothing to install',
  'artifact.unsupported': 'An artifact that cannot be installed',
  'artifacts.place': 'Move the artifacts into place',
  'adapters.write': 'Write the adapters',
  'gateway.register': 'Register with the gateway',
  'lockfile.write': 'Write the lockfile',
};

export function stepName(step: string): string {
  return NAMES[step] ?? step;
}

export function Steps({ steps }: { steps: readonly ShownStep[] }) {
  return (
    <ol class="steps" aria-live="polite">
      {steps.map((step, index) => (
        <Step key={`${index}-${step.step}`} {...step} />
      ))}
    </ol>
  );
}

function Step({ step, startedAt, result }: ShownStep) {
  const outcome = result ? outcomeOf(result) : 'running';
  return (
    <li class={`step step-${outcome}`}>
      <span class="step-mark">{MARKS[outcome]}</span>
      <span class="step-name">
        {stepName(step)} <code>{step}</code>
      </span>
      <span class="step-time">
        {result ? result.elapsed_secs !== undefined && duration(result.elapsed_secs) : <Clock since={startedAt} />}
      </span>
      {result && <StepNote result={result} />}
    </li>
  );
}

const MARKS = {
  running: <span class="spinner" role="img" aria-label="running" />,
  good: (
    <span role="img" aria-label="done">
      <CheckIcon />
    </span>
  ),
  skipped: (
    <span role="img" aria-label="skipped">
      <DashIcon />
    </span>
  ),
  bad: (
    <span role="img" aria-label="failed">
      <CrossIcon />
    </span>
  ),
};

function outcomeOf(result: StepResult): keyof typeof MARKS {
  if (isNotForGateway(result)) return 'skipped';
  if (!result.ok) return 'bad';
  return result.extra?.skipped ? 'skipped' : 'good';
}

function StepNote({ result }: { result: StepResult }) {
  const { extra = {} } = result;
  if (isNotForGateway(result)) return <span class="step-note">Not for the gateway. {String(extra.error)}</span>;
  const note = extra.error ?? extra.reason ?? extra.note ?? extra.path;
  return (
    <>
      {typeof note === 'string' && <span class="step-note">{note}</span>}
      {typeof extra.warning === 'string' && (
        <span class="step-warning">
          <Warning text={extra.warning} />
        </span>
      )}
      {asObjects(extra.paste).map(({ file, text }) => (
        <CopyBox key={String(file)} text={String(text)} label={`the entry for ${file}`} />
      ))}
    </>
  );
}

function Clock({ since }: { since: number }) {
  const seconds = useSignal(0);
  useEffect(() => {
    const timer = setInterval(() => {
      seconds.value = (performance.now() - since) / 1000;
    }, 100);
    return () => clearInterval(timer);
  }, [since]);
  // Hidden from screen readers, because it changes ten times a second.
  return <span aria-hidden="true">{seconds.value.toFixed(1)} s</span>;
}
