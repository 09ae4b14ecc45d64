// Wrong tokens: an address that sent many has to wait before another token of it is looked at.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { HubError } from '../errors.ts';
import type { Authentication } from './authenticate.ts';

/** Different ones: a program that repeats an outdated token is not guessing. */
const MOST_WRONG = 20;
const WINDOW_MS = 60_000;
const ADDRESSES_KEPT = 10_000;
const TOKENS_KEPT = 1_000;

/** Tokens that were accepted lately always pass: others behind the same proxy do not pay for one that guesses. */
export function limitAttempts(authentication: Authentication): Authentication {
  const wrong = new LRUCache<string, Set<string>>({ max: ADDRESSES_KEPT, ttl: WINDOW_MS });
  const accepted = new LRUCache<string, true>({ max: TOKENS_KEPT });
  return {
    isOpen: authentication.isOpen,
    async identify(bearer, address) {
      if (bearer === '' || authentication.isOpen) return authentication.identify(bearer, address);
      const token = createHash('sha256').update(bearer).digest('base64');
      const tried = wrong.get(address);
      if (tried && tried.size >= MOST_WRONG && !tried.has(token) && !accepted.has(token)) throw tooMany();
      try {
        const identified = await authentication.identify(bearer, address);
        accepted.set(token, true);
        return identified;
      } catch (error) {
        if (isWrong(error)) note(address, token);
        throw error;
      }
    },
  };

  /** The time begins with the first wrong token: a caller that goes on trying does not lock others out for longer. */
  function note(address: string, token: string): void {
    const tried = wrong.get(address) ?? new Set();
    if (tried.size === 0) wrong.set(address, tried);
    if (tried.size < MOST_WRONG) tried.add(token);
  }
}

function isWrong(error: unknown): boolean {
  return error instanceof HubError && error.code === 'unauthorized';
}

function tooMany(): HubError {
  return new HubError('rate_limited', 'Too many wrong tokens came from this address; try again in a minute.');
}
