// The model files shipped with the hub; each is verified by its digest before use.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const DIGESTS = {
  'encoder.int8.onnx': '30b747eae8c603a46d55465ff564b18b0d623daf25fa144de4a83841e32b6b20',
  'static-256.i8': 'fbfc5dd60e2d1927a616de8793708a62117b1bc1ea0386a4ad8c034ecef3a3b1',
  'static-256.scale.f16': '2621f1176819b2898c813383408a549deb1d944dd250eb39d75f83fa5b3e74ee',
  'tokenizer.json': 'be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037',
} as const;

export type ModelFile = keyof typeof DIGESTS;

/** @throws Error with one sentence when the file is missing or differs from the one the hub was built with. */
export async function modelFilePath(folder: string, file: ModelFile): Promise<string> {
  const path = join(folder, file);
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash).catch(() => {
    throw new Error(`The model file ${file} cannot be read`);
  });
  if (hash.digest('hex') === DIGESTS[file]) return path;
  throw new Error(`The model file ${file} is damaged: its digest is not the expected one`);
}

/** @throws Error like `modelFilePath`. */
export async function readModelFile(folder: string, file: ModelFile): Promise<Buffer> {
  return readFile(await modelFilePath(folder, file));
}

/** Changes with the file, so that vectors of different model versions are not mixed. */
export function modelName(kind: string, file: ModelFile): string {
  return `${kind}-${DIGESTS[file].slice(0, 12)}`;
}
