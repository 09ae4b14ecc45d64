// What this machine knows about a target, beside its lockfile: `.hub/state.json`.
import { z } from 'zod';
import { readInside, writeFileInside } from './target/files.ts';
import { HUB_FOLDER } from './target/places.ts';

const STATE_FILE = `${HUB_FOLDER}/state.json`;

const State = z.object({
  version: z.literal(1),
  /** Folders outside `.hub` that the hub is putting in place, or has put there, with their tree digests. */
  placed: z.record(z.string(), z.string()),
});

/** A state that is absent or damaged is an empty one: it can be deleted at any time. */
export async function readPlaced(targetDir: string): Promise<Record<string, string>> {
  try {
    return State.parse(JSON.parse((await readInside(targetDir, STATE_FILE)) ?? '')).placed;
  } catch {
    return {};
  }
}

export async function writePlaced(targetDir: string, placed: Record<string, string>): Promise<void> {
  await writeFileInside(targetDir, STATE_FILE, `${JSON.stringify({ version: 1, placed }, null, 2)}\n`);
}
