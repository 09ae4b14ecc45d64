// The embedded model that needs no runtime: sums one stored vector per token.
import { createTokenizer, type Encoder } from './encoder.ts';
import { modelName, readModelFile } from './model-files.ts';

const DIMENSIONS = 256;

/** @throws Error when a file is damaged. */
export async function openStaticEncoder(folder: string): Promise<Encoder> {
  const [rows, scales, tokenizer] = await Promise.all([
    readModelFile(folder, 'static-256.i8'),
    readModelFile(folder, 'static-256.scale.f16'),
    readModelFile(folder, 'tokenizer.json'),
  ]);
  const tokenize = createTokenizer(tokenizer, { isFramed: false });
  return {
    model: modelName('catalog-static', 'static-256.i8'),
    async encode(text) {
      const sum = new Float32Array(DIMENSIONS);
      for (const id of tokenize(text)) {
        const scale = halfFloat(scales.readUInt16LE(2 * id));
        const start = id * DIMENSIONS;
        for (let i = 0; i < DIMENSIONS; i += 1) {
          sum[i] = (sum[i] as number) + rows.readInt8(start + i) * scale;
        }
      }
      const length = Math.hypot(...sum);
      // A text without words has no meaning: it is equally far from everything.
      return length === 0 ? sum : sum.map((value) => value / length);
    },
  };
}

function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
