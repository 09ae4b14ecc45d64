// Runs on each search thread: embeds the query, ranks, and lists, over memory that all of them share.
import { workerData } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { createSnapshotReader, type Snapshot, type SnapshotParts } from '../index/snapshot.ts';
import type { Encoder } from '../model/encoder.ts';
import { openModel } from '../model/open-model.ts';
import { createLister, type Listed, type Lister } from '../ranking/lister.ts';
import { type Ranked, rank } from '../ranking/ranker.ts';
import type { ListRequest, RankRequest } from './engine.ts';

export interface SearchTask {
  /** Of the index. */
  version: number;
  /** Only for a thread that does not know this version yet. */
  parts?: SnapshotParts;
  work: { rank: RankWork } | { list: ListRequest };
}

export interface RankWork {
  request: RankRequest;
  now: Date;
  meaning: QueryMeaning;
}

/** Where the query's vector comes from: there is none, this thread makes it, or it was made elsewhere. */
export type QueryMeaning =
  | { from: 'nowhere' }
  /** With this model, which the vectors of the texts are of. Undefined: there are none yet. */
  | { from: 'here'; model: string | undefined }
  | { from: 'elsewhere'; vector: Float32Array };

export interface RankedReply extends Ranked {
  /** Whether meaning took part. */
  usedMeaning: boolean;
  /** Whether the index has vectors at all. */
  hasVectors: boolean;
  /** Whether a simpler model takes the place of the one that should run here. */
  isStandIn: boolean;
  /** Why the query has no vector although this thread was to make it. */
  trouble?: string;
}

/** Where the files of the embedded model are. */
export interface SearchThreadData {
  modelFolder: string;
}

const { modelFolder } = workerData as SearchThreadData;
const MOST_QUERY_VECTORS = 1_000;

const reader = createSnapshotReader();
const queryVectors = new LRUCache<string, Float32Array>({ max: MOST_QUERY_VECTORS });
let current: { version: number; snapshot: Snapshot; lister: Lister } | undefined;
let model: Promise<Encoder> | undefined;

/** Undefined when it needs the parts of the index. */
export default async function run({ version, parts, work }: SearchTask): Promise<RankedReply | Listed | undefined> {
  if (current?.version !== version) {
    if (!parts) return undefined;
    const snapshot = reader.open(parts);
    current = { version, snapshot, lister: createLister(snapshot) };
  }
  const { snapshot, lister } = current;
  return 'list' in work ? lister.list(work.list) : answer(snapshot, work.rank);
}

async function answer(snapshot: Snapshot, { request, now, meaning }: RankWork): Promise<RankedReply> {
  const { vector, isStandIn = false, trouble } = await vectorFor(request.text, meaning);
  const sizes = snapshot.segments.flatMap(({ vectors }) => vectors?.block.dimensions ?? []);
  const usable = vector && sizes.includes(vector.length) ? vector : undefined;
  return {
    ...rank(snapshot, { ...request, mode: usable ? request.mode : 'keyword', now, vector: usable }),
    usedMeaning: usable !== undefined,
    hasVectors: sizes.length > 0,
    isStandIn,
    ...(trouble !== undefined && { trouble }),
  };
}

interface QueryVector {
  vector?: Float32Array;
  isStandIn?: boolean;
  trouble?: string;
}

async function vectorFor(text: string, meaning: QueryMeaning): Promise<QueryVector> {
  if (meaning.from === 'elsewhere') return { vector: meaning.vector };
  // Without a vector to compare with, the model is not needed yet.
  if (meaning.from === 'nowhere' || meaning.model === undefined) return {};
  try {
    model ??= openModel(modelFolder);
    const { model: name, fallback, encode } = await model;
    // Vectors of two models are never compared.
    if (meaning.model !== name) return {};
    const vector = queryVectors.get(text) ?? (await encode(text));
    queryVectors.set(text, vector);
    return { vector, isStandIn: fallback !== undefined };
  } catch (error) {
    model = undefined;
    return { trouble: error instanceof Error ? error.message : String(error) };
  }
}
