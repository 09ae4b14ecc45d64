// A thread that starts only when a file exists.
import { readFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

const { file } = workerData as { file: string };
const text = readFileSync(file, 'utf8');

export default function readText(): string {
  return text;
}
