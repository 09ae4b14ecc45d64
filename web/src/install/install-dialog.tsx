// Installing on the hub's machine: the plan first, then the steps as they happen, the lockfile at the end.
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { EntityRecord } from '../../../src/catalog/contract.ts';
import type { InstallPlan, InstallReport } from '../../../src/install/contract.ts';
import { settings } from '../api/settings.ts';
import { forgetToken, token } from '../api/token.ts';
import { CopyBox } from '../parts/copy-box.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { FailureNotice, Notice } from '../parts/notice.tsx';
import { TokenForm } from '../parts/token-form.tsx';
import { count } from '../parts/words.ts';
import { createInstallRun, type InstallRun } from './install-run.ts';
import { Steps, stepName } from './steps.tsx';

export function InstallDialog({ entity, onClose }: { entity: EntityRecord; onClose: () => void }) {
  const run = useMemo(() => createInstallRun(entity.id), [entity.id]);
  const needsToken = settings.value?.admin_protected === true && token.value === '';
  const isRefused = run.failure.value?.kind === 'unauthorized';
  return (
    <Dialog title={`Install ${entity.title ?? entity.name}`} onClose={onClose}>
      {needsToken || isRefused ? (
        <TokenForm
          why="Installing changes things on the hub’s machine, so that it needs the token."
          onKept={() => {
            run.failure.value = undefined;
          }}
        />
      ) : (
        <Stages run={run} onClose={onClose} />
      )}
    </Dialog>
  );
}

function Stages({ run, onClose }: { run: InstallRun; onClose: () => void }) {
  const stage = run.stage.value;
  const target = useSignal('.');
  const failure = run.failure.value;
  return (
    <>
      {failure && failure.kind !== 'unauthorized' && <FailureNotice failure={failure} />}
      {(stage.name === 'target' || stage.name === 'planning') && (
        <form
          class="target-form"
          onSubmit={(event) => {
            event.preventDefault();
            void run.plan(target.value.trim());
          }}
        >
          <label>
            <span class="label">Folder on the hub’s machine</span>
            <input
              type="text"
              required
              spellcheck={false}
              value={target}
              onInput={(event) => {
                target.value = event.currentTarget.value;
              }}
            />
          </label>
          <button type="submit" class="button button-main" disabled={stage.name === 'planning'}>
            {stage.name === 'planning' ? 'Planning…' : 'Show the plan'}
          </button>
          <p class="quiet">Everything is written inside this folder. The plan touches nothing.</p>
        </form>
      )}
      {stage.name === 'planned' && (
        <>
          <Plan plan={stage.plan} target={stage.target} />
          <div class="dialog-foot">
            <button type="button" class="button" onClick={run.back}>
              Another folder
            </button>
            <button type="button" class="button button-main" onClick={() => run.install(target.value.trim())}>
              Install
            </button>
          </div>
        </>
      )}
      {stage.name === 'running' && (
        <>
          <p class="quiet">Closing this window does not stop the install.</p>
          <Steps steps={stage.steps} />
        </>
      )}
      {stage.name === 'done' && <Report report={stage.report} onClose={onClose} />}
    </>
  );
}

function Plan({ plan, target }: { plan: InstallPlan; target: string }) {
  const registers = Object.keys(plan.mcp_registration).length > 0;
  return (
    <>
      <p>
        Into <code>{target}</code>:
      </p>
      <ol class="plan">
        {plan.artifacts.map(({ step, command, reason }) => (
          <li key={`${step} ${command}`}>
            <strong>{stepName(step)}</strong>
            <code class="plan-command">{command}</code>
            <span class="quiet">{reason}</span>
          </li>
        ))}
        {plan.adapters.map(({ framework, template_key, path, generic }) => (
          <li key={path}>
            <strong>
              Write the {framework} {template_key}
            </strong>
            <code class="plan-command">{path}</code>
            {generic && (
              <span class="quiet">There is no template for this pair: a general description is written.</span>
            )}
          </li>
        ))}
        {registers && (
          <li>
            <strong>{stepName('gateway.register')}</strong>
            <span class="quiet">If the gateway refuses, the install still counts.</span>
          </li>
        )}
        <li>
          <strong>{stepName('lockfile.write')}</strong>
          <code class="plan-command">hub.lock.json</code>
        </li>
      </ol>
    </>
  );
}

function Report({ report, onClose }: { report: InstallReport; onClose: () => void }) {
  const steps = report.results.map((result) => ({ step: result.step, startedAt: 0, result }));
  return (
    <>
      {report.ok ? (
        <Notice tone="good" title={`Installed; ${count(report.files_written.length, 'file')} written`} />
      ) : (
        <Notice tone="bad" title="Not everything is in place">
          <p>The lockfile says what is. Once the cause is mended, the same install continues from there.</p>
        </Notice>
      )}
      <Steps steps={steps} />
      <h3>hub.lock.json</h3>
      <CopyBox text={JSON.stringify(report.lockfile, null, 2)} label="the lockfile" />
      <div class="dialog-foot">
        {token.value !== '' && (
          <button type="button" class="link-button" onClick={forgetToken}>
            Forget the token
          </button>
        )}
        <button type="button" class="button button-main" onClick={onClose}>
          Done
        </button>
      </div>
    </>
  );
}
