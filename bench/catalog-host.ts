// Serves a published catalog for the benchmark: an index and its manifests, with entity tags.
// Below `/copy-1/`, `/copy-2/` and so on, it serves the same catalog with other names and texts.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { createBrotliDecompress } from 'node:zlib';

const [file = '', made = '20000'] = process.argv.slice(2);
const documents = new Map<string, { body: Buffer; etag: string }>();

function put(path: string, text: string): void {
  const body = Buffer.from(text);
  documents.set(path, { body, etag: `"${createHash('sha1').update(body).digest('hex')}"` });
}

const paths: string[] = [];
for await (const { path, manifest } of file ? linesOf(file) : generatedDocuments(Number(made))) {
  paths.push(path);
  put(`/${path}`, JSON.stringify(manifest));
}
let generation = 0;
putIndex();

const server = createServer((request, response) => {
  const path = decodeURI(request.url ?? '/');
  if (path === '/touch-index') putIndex();
  const [, copy = '', original = path] = /^\/(copy-\d+)(\/.*)$/.exec(path) ?? [];
  const found = documents.get(original);
  const document = found && copy && original !== '/index.json' ? changed(found, copy) : found;
  if (!document) return void response.writeHead(404).end();
  if (request.headers['if-none-match'] === document.etag) return void response.writeHead(304).end();
  response.writeHead(200, { 'content-type': 'application/json', etag: document.etag }).end(document.body);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/index.json`),
);

/** Like the real root index: the paths, and the same entries as items with more details. */
function putIndex(): void {
  generation += 1;
  const items = paths.map((path) => ({
    manifest_path: path,
    status: 'active',
    kind: path.split('/')[0],
    generation: 'stable',
  }));
  put('/index.json', JSON.stringify({ generation, counts: { all: paths.length }, manifests: paths, items }));
}

function changed({ body, etag }: { body: Buffer; etag: string }, copy: string): { body: Buffer; etag: string } {
  const { id, name, description, ...rest } = JSON.parse(body.toString()) as Record<string, string>;
  const renamed = {
    id: `${id}-${copy}`,
    name: `${name ?? id}-${copy}`,
    description: `${description ?? ''} Edition ${copy}.`,
  };
  return { body: Buffer.from(JSON.stringify({ ...rest, ...renamed })), etag: `${etag.slice(0, -1)}-${copy}"` };
}

async function* linesOf(path: string): AsyncGenerator<{ path: string; manifest: unknown }> {
  const bytes = createReadStream(path);
  const lines = createInterface({ input: path.endsWith('.br') ? bytes.pipe(createBrotliDecompress()) : bytes });
  for await (const line of lines) if (line) yield JSON.parse(line);
}

function* generatedDocuments(count: number): Generator<{ path: string; manifest: unknown }> {
  for (let number = 0; number < count; number += 1) {
    const manifest = {
      type: ['agent', 'tool', 'mcp_server'][number % 3],
      id: `bench-${number}`,
      name: `io.example.bench/entity-${number % 5000}`,
      version: `1.${number % 40}.0`,
      description: `Entity number ${number} of the benchmark: reads documents, finds what was asked for and answers in short sentences.`,
      tags: ['bench', `group-${number % 50}`],
      mcp_registration: { server: { transport: 'SSE', url: `https://mcp.example.org/${number}/sse` } },
    };
    yield { path: `entities/${number}/manifest.json`, manifest };
  }
}
