// A search engine for tests of the code around it: counts how many words of the query a text contains.
import type { Hit, Ranking, RankRequest, SearchEngine } from '../../../src/search/engine/engine.ts';

export interface WordEngine extends Pick<SearchEngine, 'rank' | 'version'> {
  /** The requests, in order. */
  readonly requests: RankRequest[];
  /** Makes every ranking incomplete from now on, for this reason. */
  degrade(reason: string | undefined): void;
  /** Simulates the arrival of vectors. */
  move(): void;
}

export interface Findable {
  uid: string;
  text: string;
}

export function wordEngine(findable: readonly Findable[], { delayMs = 0 } = {}): WordEngine {
  const requests: RankRequest[] = [];
  let degraded: string | undefined;
  let version = 0;

  async function rank(request: RankRequest): Promise<Ranking> {
    requests.push(request);
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    const words = request.text.toLowerCase().split(/\W+/).filter(Boolean);
    const hits = findable
      .map(({ uid, text }): Hit => {
        const found = words.filter((word) => text.toLowerCase().includes(word)).length;
        const score = words.length === 0 ? 0 : found / words.length;
        const explanation = request.explain ? { words: found } : undefined;
        return {
          uid,
          lexical: score,
          semantic: 0,
          quality: 0.5,
          recency: 0.5,
          final: score,
          versionCount: 1,
          ...(explanation && { explanation }),
        };
      })
      .filter(({ final }) => final > 0)
      .toSorted((a, b) => b.final - a.final || (a.uid < b.uid ? -1 : 1));
    return {
      hits: hits.slice(0, request.limit),
      total: hits.length,
      mode: request.mode,
      isLasting: !degraded,
      ...(degraded && { degraded }),
    };
  }

  return {
    requests,
    rank,
    version: () => String(version),
    degrade: (reason) => {
      degraded = reason;
    },
    move: () => {
      version += 1;
    },
  };
}
