// Worker thread that embeds the texts of the catalog with the built-in model.
import { workerData } from 'node:worker_threads';
import type { Encoder } from './encoder.ts';
import { openModel } from './open-model.ts';

export type EmbedderReply = Awaited<ReturnType<typeof embed>>;

let opened: Promise<Encoder> | undefined;

/** An empty list only opens the model. @throws Error when no model can be used here. */
export default async function embed(texts: readonly string[]) {
  opened ??= openModel((workerData as { folder: string }).folder);
  const { model, fallback, encode } = await opened;
  const vectors: Float32Array[] = [];
  for (const text of texts) vectors.push(await encode(text));
  return { model, fallback, vectors };
}
