// Why entities fit a query, in the words of a language model: one call for a page.
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { jsonDigest } from '../../lib/json-digest.ts';
import { type LlmClient, readJsonObject } from './llm-client.ts';
import { type Candidate, shown } from './reranker.ts';

export interface FitReasons {
  /** One for each candidate; undefined where the model gave none that can be shown. */
  explain(text: string, candidates: readonly Candidate[]): Promise<readonly (string | undefined)[]>;
}

const REASONS_KEPT = 5_000;
const LONGEST_REASON = 300;

const TASK = `You explain search results of a catalog of agents, tools and MCP servers. The document holds "query", what somebody needs, and "candidates", each with "id", "name" and "summary". Say of each, in one plain sentence of at most 25 words, in the language of the query, what in it meets the need, or that it hardly does. Use only what its summary says. The form of the answer: {"reasons": [{"id": 1, "reason": "…"}, …]}`;

const Reasons = z.object({ reasons: z.array(z.object({ id: z.number().int(), reason: z.string() })) });

export function createLlmFitReasons(llm: LlmClient): FitReasons {
  const known = new LRUCache<string, string>({ max: REASONS_KEPT });

  return {
    async explain(text, candidates) {
      const keys = candidates.map((candidate) => jsonDigest([llm.model, text, shown(candidate, 0)]));
      const missing = candidates.map((_, place) => place).filter((place) => !known.has(keys[place] ?? ''));
      if (missing.length > 0) {
        const data = {
          query: text,
          candidates: missing.map((place) => shown(candidates[place] as Candidate, place + 1)),
        };
        const answer = await llm.ask({ task: TASK, data }, (reply) => readJsonObject(reply, Reasons).reasons);
        for (const { id, reason } of answer.outcome === 'answered' ? answer.value : []) {
          const sentence = plainSentence(reason);
          if (sentence !== undefined && missing.includes(id - 1)) known.set(keys[id - 1] ?? '', sentence);
        }
      }
      return keys.map((key) => known.get(key));
    },
  };
}

/** What a manifest talked a model into must not reach people as a link or as pages of text. */
function plainSentence(reason: string): string | undefined {
  const sentence = reason.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  const isFit = sentence !== '' && sentence.length <= LONGEST_REASON && !/:\/\/|www\.|[<>]/i.test(sentence);
  return isFit ? sentence : undefined;
}
