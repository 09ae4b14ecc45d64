// Lets a language model explain why entities match a query: one call per page.
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { jsonDigest } from '../../lib/json-digest.ts';
import { type LlmClient, readJsonObject } from './llm-client.ts';
import { type Candidate, shown } from './reranker.ts';

/** Returns one reason per candidate; undefined where the model gave none that can be shown. */
type WriteReasons = (text: string, candidates: readonly Candidate[]) => Promise<readonly (string | undefined)[]>;

const REASONS_KEPT = 5_000;
const LONGEST_REASON = 300;

const TASK = `You explain search results of a catalog of agents, tools and MCP servers. The document holds "query", what somebody needs, and "candidates", each with "id", "name" and "summary". Say of each, in one plain sentence of at most 25 words, in the language of the query, what in it meets the need, or that it hardly does. Use only what its summary says. The form of the answer: {"reasons": [{"id": 1, "reason": "…"}, …]}`;

const Reasons = z.object({ reasons: z.array(z.object({ id: z.number().int(), reason: z.string() })) });

export function createLlmFitReasons(llm: LlmClient): WriteReasons {
  const known = new LRUCache<string, string>({ max: REASONS_KEPT });

  return async (text, candidates) => {
    const keyed = candidates.map((candidate, position) => ({
      key: jsonDigest([llm.model, text, shown(candidate, 0)]),
      candidate: shown(candidate, position + 1),
    }));
    const missing = new Map(keyed.filter(({ key }) => !known.has(key)).map((each) => [each.candidate.id, each]));
    if (missing.size > 0) {
      const data = { query: text, candidates: Array.from(missing.values(), ({ candidate }) => candidate) };
      const answer = await llm.ask({ task: TASK, data }, (reply) => readJsonObject(reply, Reasons).reasons);
      for (const { id, reason } of answer.outcome === 'answered' ? answer.value : []) {
        const asked = missing.get(id);
        const sentence = plainSentence(reason);
        if (asked && sentence !== undefined) known.set(asked.key, sentence);
      }
    }
    return keyed.map(({ key }) => known.get(key));
  };
}

/** A manifest may have manipulated the model: links and long texts must not reach users. */
function plainSentence(reason: string): string | undefined {
  const sentence = reason.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  const isFit = sentence !== '' && sentence.length <= LONGEST_REASON && !/:\/\/|www\.|[<>]/i.test(sentence);
  return isFit ? sentence : undefined;
}
