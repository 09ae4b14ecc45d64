// Opens the model shipped with the hub: the sentence encoder, or a simpler model where that cannot run.

import { fileURLToPath } from 'node:url';
import { messageOf } from '../../errors.ts';
import type { Encoder } from './encoder.ts';
import { openOnnxEncoder } from './onnx-encoder.ts';
import { openStaticEncoder } from './static-encoder.ts';

/** At the root of the project; the relative path is the same from the sources and from the build. */
export const MODELS_FOLDER = fileURLToPath(new URL('../../../models', import.meta.url));

/** @throws Error when neither can be used. */
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
