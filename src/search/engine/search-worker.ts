// Runs on each search thread: embeds the query, ranks and lists, over shared memory.

import { workerData } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { messageOf } from '../../errors.ts';
import { createSnapshotReader, type Snapshot, type SnapshotParts } from '../index/snapshot.ts';
import type { Encoder } from '../model/encoder.ts';
import { openModel } from '../model/open-model.ts';
import { createLister, type Lister } from '../ranking/lister.ts';
import { rank } from '../ranking/ranker.ts';
import type { FoundHits, ListRequest, RankRequest } from './engine.ts';
import type { Meaning } from './engine-shell.ts';

export interface SearchTask {
  /** The version of the index. */
  version: number;
  /** Only for a thread that does not have this version yet. */
  parts?: SnapshotParts;
  work: { rank: RankWork } | { list: ListRequest };
}

export interface RankWork {
  request: RankRequest;
  now: Date;
  /** The vector of the query, if it is already computed. */
  vector?: Float32Array;
  /** The model of the texts' vectors, with which this thread embeds the query. */
  model?: string;
}

export interface RankedReply {
  found: FoundHits;
  meaning: Meaning;
}

const { modelFolder } = workerData as { modelFolder: string };
const MOST_QUERY_VECTORS = 1_000;
const OTHER_SIZE = "the vectors of the texts have another size than the query's";

const openSnapshot = createSnapshotReader();
const queryVectors = new LRUCache<string, Float32Array>({ max: MOST_QUERY_VECTORS });
let current: { version: number; snapshot: Snapshot; list: Lister } | undefined;
let model: Promise<Encoder> | undefined;

/** Returns undefined when it needs the parts of the index. */
export default async function run({ version, parts, work }: SearchTask): Promise<RankedReply | FoundHits | undefined> {
  if (current?.version !== version) {
    if (!parts) return undefined;
    const snapshot = openSnapshot(parts);
    current = { version, snapshot, list: createLister(snapshot) };
  }
  const { snapshot, list } = current;
  return 'list' in work ? list(work.list) : answer(snapshot, work.rank);
}

async function answer(snapshot: Snapshot, work: RankWork): Promise<RankedReply> {
  const { request, now } = work;
  const { vector, ...meaning } = await vectorFor(work);
  const sizes = snapshot.segments.flatMap(({ vectors }) => vectors?.block.dimensions ?? []);
  const usable = vector && sizes.includes(vector.length) ? vector : undefined;
  const found = rank(snapshot, { ...request, mode: usable ? request.mode : 'keyword', now, vector: usable });
  const trouble = sizes.length === 0 ? 'embeddings are being computed' : OTHER_SIZE;
  return { found, meaning: usable ? meaning : { trouble, ...meaning } };
}

async function vectorFor({ request, ...work }: RankWork): Promise<Meaning & { vector?: Float32Array }> {
  // Before there are vectors to compare with, the model is not needed.
  if (work.model === undefined) return { vector: work.vector };
  try {
    model ??= openModel(modelFolder);
    const { model: name, fallback, encode } = await model;
    // Vectors of different models are never compared.
    if (work.model !== name) return {};
    const vector = queryVectors.get(request.text) ?? (await encode(request.text));
    queryVectors.set(request.text, vector);
    return { vector, isStandIn: fallback !== undefined };
  } catch (error) {
    model = undefined;
    return { trouble: 'the model cannot be loaded', fault: messageOf(error) };
  }
}
