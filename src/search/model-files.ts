// The model files that come with the hub, each checked by its digest before it is used.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const DIGESTS = {
  'encoder.int8.onnx': '42da43dab07105976be34661c50a50b503b5c7234e06520713f026d7810f248d',
  'static-256.i8': '20c8afb8e1a25d4bd4184cd7a5b356661b15c0830f34f5c3865f954b6b2266f4',
  'static-256.scale.f16': '6340744428806dec749b7152eb1cdbca0c146288d569b82c3cec246e5b1e2433',
  'tokenizer.json': 'be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037',
} as const;

export type ModelFile = keyof typeof DIGESTS;

/** @throws Error with one sentence when the file is missing or is not the one that the hub was built with. */
export async function readModelFile(folder: string, file: ModelFile): Promise<Buffer> {
  const content = await readFile(join(folder, file)).catch(() => unreadable(file));
  checkDigest(file, createHash('sha256').update(content).digest('hex'));
  return content;
}

/** For whoever reads it by itself: the file is never in memory as a whole. @throws Error as above. */
export async function modelFilePath(folder: string, file: ModelFile): Promise<string> {
  const path = join(folder, file);
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash).catch(() => unreadable(file));
  checkDigest(file, hash.digest('hex'));
  return path;
}

function checkDigest(file: ModelFile, digest: string): void {
  if (digest === DIGESTS[file]) return;
  throw new Error(`The model file ${file} is damaged: its digest is not the expected one`);
}

function unreadable(file: ModelFile): never {
  throw new Error(`The model file ${file} cannot be read`);
}

/** Changes with the file, so that vectors of another state of the model are not mixed with its own. */
export function modelName(kind: string, file: ModelFile): string {
  return `${kind}-${DIGESTS[file].slice(0, 12)}`;
}
