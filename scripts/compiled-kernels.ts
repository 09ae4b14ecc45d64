// Compiles src/search/index/vector-kernels.wat into a TypeScript module.
import { readFile } from 'node:fs/promises';
import wabt from 'wabt';

const SOURCE = new URL('../src/search/index/vector-kernels.wat', import.meta.url);

export async function compiledKernels(): Promise<string> {
  const { parseWat } = await wabt();
  // The package's types lack some of its features.
  const features = { simd: true, threads: true, multi_memory: true } as object;
  const parsed = parseWat('vector-kernels.wat', await readFile(SOURCE, 'utf8'), features);
  const { buffer } = parsed.toBinary({});
  parsed.destroy();
  return `// Compiled from vector-kernels.wat by \`npm run docs\`.
export const VECTOR_KERNELS =
  '${Buffer.from(buffer).toString('base64')}';
`;
}
