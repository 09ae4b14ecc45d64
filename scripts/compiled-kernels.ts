// src/search/vector-kernels.wat as a module of TypeScript.
import { readFile } from 'node:fs/promises';
import wabt from 'wabt';

const SOURCE = new URL('../src/search/vector-kernels.wat', import.meta.url);

export async function compiledKernels(): Promise<string> {
  const { parseWat } = await wabt();
  const parsed = parseWat('vector-kernels.wat', await readFile(SOURCE, 'utf8'), { simd: true });
  const { buffer } = parsed.toBinary({});
  parsed.destroy();
  return `// Compiled from vector-kernels.wat by \`npm run docs\`.
export const VECTOR_KERNELS =
  '${Buffer.from(buffer).toString('base64')}';
`;
}
