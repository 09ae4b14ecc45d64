// The model that comes with the hub: the sentence encoder, or a simpler model where that does not run.
import { fileURLToPath } from 'node:url';
import { messageOf } from './embedder.ts';
import type { Encoder } from './encoder.ts';
import { openOnnxEncoder } from './onnx-encoder.ts';
import { openStaticEncoder } from './static-encoder.ts';

/** At the root of the project, from the sources as well as from what is built of them. */
export const MODELS_FOLDER = fileURLToPath(new URL('../../../models', import.meta.url));

/** @throws Error when neither of them can be used. */
export async function openModel(folder: string): Promise<Encoder> {
  try {
    return await openOnnxEncoder(folder);
  } catch (error) {
    const reason = messageOf(error);
    const encoder = await openStaticEncoder(folder).catch((other) => {
      throw new Error(`${reason}; ${messageOf(other)}`);
    });
    return { ...encoder, fallback: reason };
  }
}
