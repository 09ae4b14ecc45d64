// What this machine knows about a target, beside its lockfile: `.hub/state.json`.
import { z } from 'zod';
import { writeFileInside } from '../lib/files.ts';
import { pathInside } from '../lib/path-inside.ts';
import { readPlainText } from '../lib/plain-file.ts';
import { HUB_FOLDER } from './target/places.ts';

const STATE_FILE = `${HUB_FOLDER}/state.json`;

const State = z.object({
  version: z.literal(1),
  /** Folders outside `.hub` that the hub is putting in place, or has put there, with their tree digests. */
  placed: z.record(z.string(), z.string()),
  /** The last install of each entity. */
  installs: z.record(z.string(), z.object({ at: z.string(), ok: z.boolean(), failed: z.array(z.string()) })),
});
export type State = z.infer<typeof State>;

const EMPTY: State = { version: 1, placed: {}, installs: {} };

/** A state that is absent or damaged is an empty one: it can be deleted at any time. */
export async function readState(targetDir: string): Promise<State> {
  try {
    const text = await readPlainText(await pathInside(targetDir, STATE_FILE));
    return State.parse(JSON.parse(text ?? ''));
  } catch {
    return EMPTY;
  }
}

export async function changeState(targetDir: string, change: (state: State) => State): Promise<void> {
  const state = change(await readState(targetDir));
  await writeFileInside(targetDir, STATE_FILE, `${JSON.stringify(state, null, 2)}\n`);
}
