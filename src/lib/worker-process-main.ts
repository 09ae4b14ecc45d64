// Runs in a process of its own: does the tasks that come, one after the other, and ends with whoever started it.
import { pathToFileURL } from 'node:url';

/** What comes back for a task. */
export type WorkerReply = { result: unknown } | { error: string };

type Work = (task: unknown) => unknown;

const [path = ''] = process.argv.slice(2);
const loaded = import(pathToFileURL(path).href) as Promise<{ default: Work }>;
// Whoever asks for the first task is told.
loaded.catch(() => {});

process.on('message', async (task) => {
  const reply = await answer(task);
  process.send?.(reply);
});
// At once, however its owner ended: native libraries may fail when they are taken down in an orderly way.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// A terminal sends these to all of its processes: the owner decides what they mean.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

async function answer(task: unknown): Promise<WorkerReply> {
  try {
    const { default: work } = await loaded;
    return { result: await work(task) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
