// One entry of an index → the entity of its manifest, or the word that it did not change.
import { createHash } from 'node:crypto';
import { type Entity, entityFromManifest } from '../catalog/entity.ts';
import { parseManifestText } from '../catalog/manifest-text.ts';
import { HubError } from '../errors.ts';
import { FetchError } from '../lib/fetch.ts';
import { jsonDigest } from '../lib/json.ts';
import type { Fetch } from '../lib/world.ts';
import { conditions } from './fetch-index.ts';
import type { IndexEntry } from './index-formats/index-reader.ts';
import type { Member } from './store.ts';

export type FetchedManifest =
  | { outcome: 'unchanged'; url: string }
  | { outcome: 'deleted'; url: string }
  | { outcome: 'manifest'; url: string; entity: Entity; member: Member }
  | { outcome: 'failed'; url: string; error: string; isTemporary: boolean };

/** `member` is what is known of it from before. Never rejects. */
export type FetchManifest = (
  entry: IndexEntry,
  member: (Member & { isMissing: boolean }) | undefined,
  signal: AbortSignal,
) => Promise<FetchedManifest>;

/** Addresses are looked up through an index, which does not take texts of any length. */
const LONGEST_URL = 1000;

export interface ManifestLimits {
  fetch: Fetch;
  maxManifestBytes: number;
  timeoutMs: number;
}

export function createManifestFetcher({ fetch, maxManifestBytes, timeoutMs }: ManifestLimits): FetchManifest {
  return async (entry, member, signal) => {
    const { url } = entry;
    if (url.length > LONGEST_URL)
      return {
        outcome: 'failed',
        url,
        error: `has an address of more than ${LONGEST_URL} characters`,
        isTemporary: false,
      };
    if (entry.isDeleted) return { outcome: 'deleted', url };
    try {
      if (entry.manifest !== undefined) return inPlace(entry, member);
      // What is marked as missing is wanted whole again.
      const known = member?.isMissing ? undefined : member;
      const reply = await fetch({
        url,
        headers: conditions(known ?? {}),
        maxBytes: maxManifestBytes,
        timeoutMs,
        signal,
      });
      if (reply.status === 304 && known) return { outcome: 'unchanged', url };
      if (reply.status !== 200)
        return {
          outcome: 'failed',
          url,
          error: `answered ${reply.status}`,
          isTemporary: reply.status >= 500 || reply.status === 429,
        };
      const digest = `sha256:${createHash('sha256').update(reply.body).digest('hex')}`;
      if (digest === known?.digest) return { outcome: 'unchanged', url };
      const { document, text } = parseManifestText(url, reply.body.toString('utf8'));
      const { etag = null, 'last-modified': lastModified = null } = reply.headers;
      const entity = entityFromManifest({ document, text, sourceUrl: url });
      return { outcome: 'manifest', url, entity, member: { url, uid: entity.uid, etag, lastModified, digest } };
    } catch (error) {
      return failure(url, error);
    }
  };
}

function inPlace(
  { url, manifest }: IndexEntry,
  member: (Member & { isMissing: boolean }) | undefined,
): FetchedManifest {
  const digest = jsonDigest(manifest);
  if (member && !member.isMissing && member.digest === digest) return { outcome: 'unchanged', url };
  // Without the address: it is that of the index, and whoever wants the manifest asks the hub.
  const entity = entityFromManifest({ document: manifest });
  return { outcome: 'manifest', url, entity, member: { url, uid: entity.uid, etag: null, lastModified: null, digest } };
}

function failure(url: string, error: unknown): FetchedManifest {
  if (error instanceof FetchError)
    return { outcome: 'failed', url, error: error.message, isTemporary: error.isTemporary };
  if (error instanceof HubError) return { outcome: 'failed', url, error: error.message, isTemporary: false };
  return { outcome: 'failed', url, error: 'was stopped', isTemporary: true };
}
