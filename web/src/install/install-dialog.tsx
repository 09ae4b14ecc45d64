// Installs on the hub's machine: shows the plan, then the running steps, then the lockfile.
import { useMemo } from 'preact/hooks';
import type { EntityRecord } from '../../../src/catalog/contract.ts';
import { needsTokenFor } from '../api/settings.ts';
import { Dialog } from '../parts/dialog.tsx';
import { FailureNotice } from '../parts/notice.tsx';
import { takeFocus } from '../parts/take-focus.ts';
import { TokenForm } from '../parts/token-form.tsx';
import { createInstallRun, type InstallRun } from './install-run.ts';
import { Plan } from './plan.tsx';
import { Report } from './report.tsx';
import { Steps } from './steps.tsx';

export function InstallDialog({ entity, onClose }: { entity: EntityRecord; onClose: () => void }) {
  const run = useMemo(() => createInstallRun(entity.id), [entity.id]);
  return (
    <Dialog title={`Install ${entity.title ?? entity.name}`} onClose={onClose}>
      {needsToken(run) ? (
        <TokenForm
          neededRole="installer"
          isRefused={run.failure.value?.kind === 'unauthorized'}
          why="Installing changes files on the hub’s machine, so it needs a token."
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

/** Finished work stays visible, even if the user then forgets the token. */
function needsToken({ stage, failure }: InstallRun): boolean {
  if (failure.value?.kind === 'unauthorized') return true;
  const isAhead = stage.value.name !== 'running' && stage.value.name !== 'done';
  return isAhead && needsTokenFor('installer');
}

function Stages({ run, onClose }: { run: InstallRun; onClose: () => void }) {
  const stage = run.stage.value;
  return (
    <>
      {run.failure.value && <FailureNotice failure={run.failure.value} />}
      {(stage.name === 'target' || stage.name === 'planning') && (
        <TargetForm run={run} isPlanning={stage.name === 'planning'} />
      )}
      {stage.name === 'planned' && (
        <>
          <Plan report={stage.report} />
          <div class="dialog-foot">
            <button type="button" class="button" onClick={run.back}>
              Another folder
            </button>
            <button type="button" class="button button-main" disabled={!stage.report.ok} onClick={run.install}>
              Install
            </button>
          </div>
        </>
      )}
      {stage.name === 'running' && (
        <>
          <p ref={takeFocus} tabIndex={-1} class="quiet">
            Closing this window does not stop the install.
          </p>
          <Steps steps={stage.steps} />
        </>
      )}
      {stage.name === 'done' && <Report report={stage.report} onAgain={run.again} onClose={onClose} />}
    </>
  );
}

function TargetForm({ run, isPlanning }: { run: InstallRun; isPlanning: boolean }) {
  return (
    <form
      class="target-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isPlanning) void run.plan();
      }}
    >
      <label>
        <span class="label">Folder on the hub’s machine</span>
        <input
          ref={takeFocus}
          type="text"
          required
          spellcheck={false}
          placeholder="projects/my-agent"
          value={run.target}
          onInput={(event) => {
            run.target.value = event.currentTarget.value;
          }}
        />
      </label>
      <button type="submit" class="button button-main" aria-disabled={isPlanning}>
        {isPlanning ? 'Planning…' : 'Show the plan'}
      </button>
      <p class="quiet">
        This folder is on the hub’s machine, not on yours. A relative path starts at <code>INSTALL_ROOT</code>, or at
        the folder that the hub runs in. Showing the plan changes nothing.
      </p>
    </form>
  );
}
