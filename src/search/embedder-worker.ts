// Runs in a worker thread: the embedded model, the encoder where it runs and the static one elsewhere.
import { workerData } from 'node:worker_threads';
import { collectGarbage } from '../lib/garbage.ts';
import type { Encoder } from './encoder.ts';
import { openOnnxEncoder } from './onnx-encoder.ts';
import { openStaticEncoder } from './static-encoder.ts';

export interface EmbedderOptions {
  /** Where the model files are. */
  folder: string;
}

export interface EmbedderReply {
  model: string;
  /** Why the encoder does not run here. */
  fallback: string | undefined;
  vectors: Float32Array[];
}

interface Opened {
  encoder: Encoder;
  fallback: string | undefined;
}

let opened: Promise<Opened> | undefined;

/** An empty list opens the model. @throws Error when no model can be used. */
export default async function embed(texts: readonly string[]): Promise<EmbedderReply> {
  opened ??= open(workerData as EmbedderOptions);
  const { encoder, fallback } = await opened;
  const vectors: Float32Array[] = [];
  for (const text of texts) vectors.push(await encoder.encode(text));
  return { model: encoder.model, fallback, vectors };
}

async function open({ folder }: EmbedderOptions): Promise<Opened> {
  try {
    const encoder = await openOnnxEncoder(folder);
    // What was read to open it is inside the runtime now.
    collectGarbage();
    return { encoder, fallback: undefined };
  } catch (error) {
    const fallback = error instanceof Error ? error.message : String(error);
    return { encoder: await openStaticEncoder(folder), fallback };
  }
}
