// Runs in a process of its own: the embedded model, the encoder where it runs and the static one elsewhere.
import { collectGarbage } from '../lib/garbage.ts';
import type { Encoder } from './encoder.ts';
import { openOnnxEncoder } from './onnx-encoder.ts';
import { openStaticEncoder } from './static-encoder.ts';

export interface EmbedderTask {
  /** Where the model files are. */
  folder: string;
  /** None: the model is only opened. */
  texts: readonly string[];
  /** The model that it must be, once that is known: vectors of two models never meet. */
  model?: string;
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

/** @throws Error when no model can be used, or only another one than before. */
export default async function embed({ folder, texts, model }: EmbedderTask): Promise<EmbedderReply> {
  opened ??= open(folder);
  const { encoder, fallback } = await opened;
  if (model !== undefined && model !== encoder.model)
    throw new Error(`the model ${model} cannot be loaded any more${fallback === undefined ? '' : ` (${fallback})`}`);
  const vectors: Float32Array[] = [];
  for (const text of texts) vectors.push(await encoder.encode(text));
  return { model: encoder.model, fallback, vectors };
}

async function open(folder: string): Promise<Opened> {
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
