// One install as the dialog shows it: plan, steps as they happen, report.
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
  /** The folder, as it is typed; stays when the token has to be asked for in between. */
  target: Signal<string>;
  plan(): Promise<void>;
  /** Into the folder of the plan, which is the one that was shown. */
  install(): Promise<void>;
  /** The same once more, after something of it failed. */
  again(): Promise<void>;
  back(): void;
}

export function createInstallRun(id: string): InstallRun {
  const stage = signal<Stage>({ name: 'target' });
  const failure = signal<HubFailure | undefined>(undefined);
  const target = signal('');

  /** A failure leads back to where it can be fixed. */
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
