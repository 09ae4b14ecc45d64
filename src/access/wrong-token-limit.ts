// Limits guessing: an address that sent many wrong tokens must wait before it may try another.
import { createHash, timingSafeEqual } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { HubError } from '../errors.ts';

export interface WrongTokenLimit {
  /** Whether the configured token was sent. @throws HubError `rate_limited` when it may have been guessed */
  isRight(sent: string, expected: string, address: string): boolean;
  /** Counts a token that is not accepted. @returns the error to throw: `refusal`, or that the address must wait */
  refuse(sent: string, address: string, refusal: HubError): HubError;
}

/** Counts distinct tokens: a program that repeats an outdated token is not guessing. */
const MOST_WRONG = 20;
const WINDOW_MS = 60_000;
const ADDRESSES_KEPT = 10_000;
/** A token of this length cannot be guessed: it always passes, so that no caller suffers from the wrong tokens of others. */
const LONG_TOKEN = 20;

export function createWrongTokenLimit(): WrongTokenLimit {
  const wrong = new LRUCache<string, Set<string>>({ max: ADDRESSES_KEPT, ttl: WINDOW_MS });
  /** Networks that sent the configured token before they had to wait, with that token. */
  const known = new LRUCache<string, true>({ max: ADDRESSES_KEPT });

  return {
    isRight(sent, expected, address) {
      if (!isSameText(sent, expected)) return false;
      const network = networkOf(address);
      const mustWait = (wrong.get(network)?.size ?? 0) >= MOST_WRONG;
      if (mustWait && expected.length < LONG_TOKEN && !known.has(`${network} ${expected}`)) throw tooMany();
      known.set(`${network} ${expected}`, true);
      return true;
    },

    refuse(sent, address, refusal) {
      const token = digestOf(sent).toString('base64');
      const network = networkOf(address);
      const tried = wrong.get(network) ?? new Set();
      if (tried.has(token)) return refusal;
      if (tried.size >= MOST_WRONG) return tooMany();
      // The window starts with the first wrong token: further attempts do not extend it.
      if (tried.size === 0) wrong.set(network, tried);
      tried.add(token);
      return refusal;
    },
  };
}

/** A caller may control all addresses of an IPv6 /64. A proxy may forward text that is not an address. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv6' ? parsed.toByteArray().slice(0, 8).join('.') : parsed.toString();
}

/** In constant time; hashing makes both sides equally long. */
function isSameText(left: string, right: string): boolean {
  return timingSafeEqual(digestOf(left), digestOf(right));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function tooMany(): HubError {
  return new HubError('rate_limited', 'Too many wrong tokens came from this address; try again in a minute.');
}
