// Reorders the best results with a language model.
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { jsonDigest } from '../../lib/json-digest.ts';
import { type LlmAnswer, type LlmClient, readJsonObject } from './llm-client.ts';

/** Returns the positions of the candidates, best first, each exactly once. */
type Order = (text: string, candidates: readonly Candidate[]) => Promise<LlmAnswer<readonly number[]>>;

/** Everything that the model sees of an entity. */
export interface Candidate {
  name: string;
  summary: string;
}

/** How many of the best results are reranked, in one call. */
export const MOST_RERANKED = 50;
const LONGEST_NAME = 100;
const LONGEST_SUMMARY = 300;
const ORDERS_KEPT = 500;

const TASK = `You order search results of a catalog of agents, tools and MCP servers. The document holds "query", what somebody needs, and "candidates", each with "id", "name" and "summary". Put those first that serve the need best. The form of the answer: {"order": [ids of all candidates, each exactly once, best first]}`;

const OrderAnswer = z.object({ order: z.array(z.number().int()) });

export function createReranker(llm: LlmClient): Order {
  // Cached by content, which is valid across catalog revisions. Requests for other pages share the same call.
  const orders = new LRUCache<string, ReturnType<Order>>({ max: ORDERS_KEPT });

  return async (text, candidates) => {
    if (candidates.length < 2) return { outcome: 'answered', value: candidates.map((_, position) => position) };
    const data = { query: text, candidates: candidates.map((candidate, position) => shown(candidate, position + 1)) };
    const key = jsonDigest([llm.model, data]);
    const known = orders.get(key);
    if (known) return known;
    const asked = llm.ask({ task: TASK, data }, (answer) => readOrder(answer, candidates.length));
    orders.set(key, asked);
    // Failures are not cached: the next call may succeed.
    if ((await asked).outcome !== 'answered') orders.delete(key);
    return asked;
  };
}

export function shown({ name, summary }: Candidate, id: number): { id: number; name: string; summary: string } {
  return {
    id,
    name: name.slice(0, LONGEST_NAME).toWellFormed(),
    summary: summary.slice(0, LONGEST_SUMMARY).toWellFormed(),
  };
}

/** @throws unless it is a permutation of all candidates */
function readOrder(answer: string, count: number): number[] {
  const { order } = readJsonObject(answer, OrderAnswer);
  const positions = order.map((id) => id - 1);
  const isWhole = positions.length === count && new Set(positions).size === count;
  if (!isWhole || positions.some((position) => position < 0 || position >= count)) {
    throw new SyntaxError('The order must contain every candidate exactly once');
  }
  return positions;
}
