// The state of one install in the dialog: plan, running steps, report.
import { type Signal, signal } from '@preact/signals';
import type { InstallReport } from '../../../src/install/contract.ts';
import type { HubFailure } from '../api/failure.ts';
import { hub } from '../api/hub.ts';
import { asFailure } from '../api/problem.ts';
import { type ShownStep, withEvent } from './shown-steps.ts';

type Stage =
  | { name: 'target' }
  | { name: 'planning' }
  | { name: 'planned'; report: InstallReport }
  | { name: 'running'; steps: ShownStep[] }
  | { name: 'done'; report: InstallReport };

export interface InstallRun {
  stage: Signal<Stage>;
  failure: Signal<HubFailure | undefined>;
  /** The folder as typed; kept while the user is asked for a token. */
  target: Signal<string>;
  plan(): Promise<void>;
  /** Installs into the folder of the shown plan. */
  install(): Promise<void>;
  /** Repeats the install after a failure. */
  again(): Promise<void>;
  back(): void;
}

export function createInstallRun(id: string): InstallRun {
  const stage = signal<Stage>({ name: 'target' });
  const failure = signal<HubFailure | undefined>(undefined);
  const target = signal('');

  /** A failure returns to the stage where it can be fixed. */
  async function attempt(next: Stage, work: () => Promise<Stage>): Promise<void> {
    const before = stage.value;
    failure.value = undefined;
    stage.value = next;
    try {
      stage.value = await work();
    } catch (error) {
      failure.value = asFailure(error);
      stage.value = before;
    }
  }

  async function install(into: string): Promise<Stage> {
    const report = await hub.install({ id, target: into }, (event) => {
      const { value } = stage;
      if (value.name === 'running')
        stage.value = { name: 'running', steps: withEvent(value.steps, event, performance.now()) };
    });
    return { name: 'done', report };
  }

  return {
    stage,
    failure,
    target,
    plan: () =>
      attempt({ name: 'planning' }, async () => {
        const report = await hub.planInstall({ id, target: target.value.trim() });
        return { name: 'planned', report };
      }),
    async install() {
      const planned = stage.value;
      if (planned.name === 'planned')
        await attempt({ name: 'running', steps: [] }, () => install(planned.report.target));
    },
    async again() {
      const done = stage.value;
      if (done.name === 'done') await attempt({ name: 'running', steps: [] }, () => install(done.report.target));
    },
    back() {
      stage.value = { name: 'target' };
    },
  };
}
