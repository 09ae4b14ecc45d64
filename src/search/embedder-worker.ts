// Runs in a process of its own: one of the models that come with the hub.
import { collectGarbage } from '../lib/garbage.ts';
import type { Encoder } from './encoder.ts';
import { openOnnxEncoder } from './onnx-encoder.ts';
import { openStaticEncoder } from './static-encoder.ts';

export interface EmbedderSetup {
  /** Where the model files are. */
  folder: string;
  /** Exactly this one: which of them it is to be is decided by whoever starts the process. */
  kind: 'encoder' | 'static';
}

/** None: the model is only opened. */
export type EmbedderTask = readonly string[];

export interface EmbedderReply {
  model: string;
  vectors: Float32Array[];
}

const OPENERS: Record<EmbedderSetup['kind'], (folder: string) => Promise<Encoder>> = {
  encoder: openOnnxEncoder,
  static: openStaticEncoder,
};

/** @throws Error when this model cannot be used here. */
export default async function openModel({ folder, kind }: EmbedderSetup) {
  const { model, encode } = await OPENERS[kind](folder);
  // What was read to open it is inside the runtime now.
  collectGarbage();
  return async (texts: EmbedderTask): Promise<EmbedderReply> => {
    const vectors: Float32Array[] = [];
    for (const text of texts) vectors.push(await encode(text));
    return { model, vectors };
  };
}
