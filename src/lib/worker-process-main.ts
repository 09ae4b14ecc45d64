// Runs in a process of its own: does the tasks that come, one after the other, and ends with whoever started it.
import { pathToFileURL } from 'node:url';

export interface WorkerRequest {
  /** The same every time: what the work is opened with. */
  setup: unknown;
  task: unknown;
}

/** What comes back for a task; `unopened` says why this process can do none at all. */
export type WorkerReply = { result: unknown } | { error: string } | { unopened: string };

type Work = (task: unknown) => unknown;

const [path = ''] = process.argv.slice(2);
let opened: Promise<Work> | undefined;

process.on('message', async ({ setup, task }: WorkerRequest) => {
  opened ??= open(setup);
  const reply = await opened.then(
    (work) => answer(work, task),
    (error): WorkerReply => ({ unopened: sentence(error) }),
  );
  process.send?.(reply);
});
// At once, however its owner ended: native libraries may fail when they are taken down in an orderly way.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// A terminal sends these to all of its processes: the owner decides what they mean.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

async function open(setup: unknown): Promise<Work> {
  const module = (await import(pathToFileURL(path).href)) as { default: (setup: unknown) => Work | Promise<Work> };
  return module.default(setup);
}

async function answer(work: Work, task: unknown): Promise<WorkerReply> {
  try {
    return { result: await work(task) };
  } catch (error) {
    return { error: sentence(error) };
  }
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
