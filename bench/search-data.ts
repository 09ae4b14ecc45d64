// Reads catalogs with judged queries.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

export interface SearchData {
  name: string;
  manifests: readonly object[];
  judgments: readonly Judgment[];
  /** The id of an entity in the judgments. */
  idOf(uid: string): string;
  /** Whether entities have names that people would search for. */
  hasNames: boolean;
}

export interface Judgment {
  text: string;
  relevant: ReadonlySet<string>;
}

type Json = Record<string, string | undefined>;

/** Loads everything in a folder: a catalog with `queries.jsonl`, and collections below `ir`. */
export async function loadJudgments(folder: string): Promise<SearchData[]> {
  const collections = ['metorial-skills', 'metatool-single'].filter((name) => existsSync(join(folder, 'ir', name)));
  return [await loadCatalog(folder), ...(await Promise.all(collections.map((name) => loadCollection(folder, name))))];
}

async function loadCatalog(folder: string): Promise<SearchData> {
  const packed = join(folder, 'catalog.jsonl.br');
  const text = existsSync(packed)
    ? brotliDecompressSync(await readFile(packed)).toString('utf8')
    : await readFile(join(folder, 'catalog.jsonl'), 'utf8');
  const manifests = lines<{ manifest: Json }>(text).map(({ manifest }) => manifest);
  const names = new Map(manifests.map(({ type, id, version, name }) => [`${type}:${id}@${version}`, name ?? id ?? '']));
  return {
    name: 'catalog',
    manifests,
    judgments: await loadQueries(folder),
    idOf: (uid) => names.get(uid) ?? uid,
    hasNames: true,
  };
}

/** The queries of a catalog, each with the name of the right entity. */
export async function loadQueries(folder: string): Promise<Judgment[]> {
  const queries = lines<{ q: string; name: string }>(await readFile(join(folder, 'queries.jsonl'), 'utf8'));
  return queries.map(({ q, name }) => ({ text: q, relevant: new Set([name]) }));
}

async function loadCollection(folder: string, name: string): Promise<SearchData> {
  const read = (file: string) => readFile(join(folder, 'ir', name, file), 'utf8');
  const documents = lines<Json>(await read('corpus.jsonl'));
  const relevant = new Map<string, Set<string>>();
  for (const line of (await read('qrels.tsv')).trim().split('\n').slice(1)) {
    const [query = '', document = ''] = line.split('\t');
    relevant.set(query, (relevant.get(query) ?? new Set()).add(document));
  }
  // Numbered, because document ids may not be valid entity ids, and names may repeat.
  return {
    name,
    manifests: documents.map((document, index) => ({
      type: 'mcp_server',
      id: `document-${index}`,
      version: '1.0.0',
      name: document._id,
      title: document.name,
      description: document.text,
      ...(document.tools && { tools: document.tools }),
    })),
    judgments: lines<Json>(await read('queries.jsonl')).map(({ _id = '', text = '' }) => ({
      text,
      relevant: relevant.get(_id) ?? new Set(),
    })),
    idOf: (uid) => documents[Number(/document-(\d+)@/.exec(uid)?.[1])]?._id ?? uid,
    hasNames: false,
  };
}

function lines<T>(text: string): T[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as T);
}
