// The embedded sentence encoder, run by onnxruntime. Its calls block the calling thread.
import type { Tensor } from 'onnxruntime-node';
import { createTokenizer, type Encoder } from './encoder.ts';
import { modelFilePath, modelName, readModelFile } from './model-files.ts';

const MOST_TOKENS = 128;
const END_TOKEN = 102;

/** @throws Error when the native library does not load here or a file is damaged. */
export async function openOnnxEncoder(folder: string): Promise<Encoder> {
  const [{ default: onnx }, model, tokenizer] = await Promise.all([
    import('onnxruntime-node'),
    modelFilePath(folder, 'encoder.int8.onnx'),
    readModelFile(folder, 'tokenizer.json'),
  ]);
  // A single thread: a text takes a few milliseconds, and the other cores serve requests.
  const session = await onnx.InferenceSession.create(model, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  const tokenize = createTokenizer(tokenizer, { isFramed: true });
  return {
    model: modelName('catalog-encoder', 'encoder.int8.onnx'),
    async encode(text) {
      const all = tokenize(text);
      const ids = all.length > MOST_TOKENS ? [...all.slice(0, MOST_TOKENS - 1), END_TOKEN] : all;
      const tensor = (values: BigInt64Array): Tensor => new onnx.Tensor('int64', values, [1, ids.length]);
      const { embedding } = await session.run({
        input_ids: tensor(BigInt64Array.from(ids, BigInt)),
        attention_mask: tensor(new BigInt64Array(ids.length).fill(1n)),
      });
      if (!(embedding?.data instanceof Float32Array)) throw new Error('The encoder gave no vector');
      return Float32Array.from(embedding.data);
    },
  };
}
