// Fetches the manifest of an index entry, or reports that it has not changed.
import { hash } from 'node:crypto';
import { FetchError } from '../../lib/net/fetch-error.ts';
import type { FetchReply } from '../../lib/world.ts';
import type { RemoteFetch } from '../credentials.ts';
import type { KnownMember, Member } from '../store.ts';
import { conditions, type FetchTask } from './fetch-index.ts';
import type { ListedEntry } from './parse-index-worker.ts';

export type FetchedManifest =
  | { outcome: 'unchanged'; url: string }
  | { outcome: 'deleted'; url: string; reason?: string }
  | FetchedText
  | FailedManifest;

export interface FetchedText {
  outcome: 'fetched';
  url: string;
  text: string;
  /** Where clients can read it; absent for a manifest inside the index, which has no real address. */
  sourceUrl?: string;
  member: Omit<Member, 'uid'>;
}

export interface FailedManifest {
  outcome: 'failed';
  url: string;
  error: string;
  /** Whether a retry may help, even if the index does not change. */
  isTemporary: boolean;
}

/** `member` is the stored state of the manifest. Never rejects. */
export type FetchManifest = (
  entry: ListedEntry,
  member: KnownMember | undefined,
  task: FetchTask,
) => Promise<FetchedManifest>;

const CREDENTIALS = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*@/i;

export interface ManifestLimits {
  fetch: RemoteFetch;
  maxManifestBytes: number;
  timeoutMs: number;
}

export function createManifestFetcher(limits: ManifestLimits): FetchManifest {
  return (entry, member, task) => {
    // A member that is marked as missing must be fetched in full.
    const known = member?.isMissing ? undefined : member;
    const judged = withoutFetching(entry, known, limits);
    return judged ? Promise.resolve(judged) : fetched(entry.url, { known, task }, limits);
  };
}

/** The outcome for an entry that needs no request; undefined if its manifest must be fetched. */
function withoutFetching(
  { url, fault, isDeleted, reason, text, digest }: ListedEntry,
  known: KnownMember | undefined,
  { maxManifestBytes }: ManifestLimits,
): FetchedManifest | undefined {
  if (fault !== undefined) return failed(url, { message: fault, isTemporary: false });
  if (CREDENTIALS.test(url))
    return failed(url, { message: 'has an address with credentials, which everyone could see', isTemporary: false });
  if (isDeleted) return { outcome: 'deleted', url, reason };
  if (digest !== undefined && digest === known?.digest) return { outcome: 'unchanged', url };
  return text === undefined ? undefined : inPlace(text, { url, known, maxManifestBytes });
}

async function fetched(
  url: string,
  { known, task }: { known: KnownMember | undefined; task: FetchTask },
  { fetch, maxManifestBytes, timeoutMs }: ManifestLimits,
): Promise<FetchedManifest> {
  try {
    const headers = conditions(known ?? {});
    const reply = await fetch({ url, headers, maxBytes: maxManifestBytes, timeoutMs, ...task });
    return judgedReply(url, reply, known);
  } catch (error) {
    return failed(url, error instanceof FetchError ? error : { message: 'was stopped', isTemporary: true });
  }
}

function judgedReply(
  url: string,
  { status, headers, body }: FetchReply,
  known: KnownMember | undefined,
): FetchedManifest {
  if (status === 304 && known) return { outcome: 'unchanged', url };
  if (status !== 200)
    return failed(url, { message: `answered ${status}`, isTemporary: status >= 500 || status === 429 });
  const digest = digestOf(body);
  if (digest === known?.digest) return { outcome: 'unchanged', url };
  const { etag = null, 'last-modified': lastModified = null } = headers;
  const member = { url, etag, lastModified, digest };
  return { outcome: 'fetched', url, text: body.toString('utf8'), sourceUrl: url, member };
}

function inPlace(
  text: string,
  { url, known, maxManifestBytes }: { url: string; known: KnownMember | undefined; maxManifestBytes: number },
): FetchedManifest {
  if (Buffer.byteLength(text) > maxManifestBytes)
    return failed(url, { message: `is larger than the limit of ${maxManifestBytes} bytes`, isTemporary: false });
  const digest = digestOf(text);
  if (digest === known?.digest) return { outcome: 'unchanged', url };
  return { outcome: 'fetched', url, text, member: { url, etag: null, lastModified: null, digest } };
}

function failed(url: string, { message, isTemporary }: { message: string; isTemporary: boolean }): FailedManifest {
  return { outcome: 'failed', url, error: message, isTemporary };
}

function digestOf(content: string | Buffer): string {
  return `sha256:${hash('sha256', content)}`;
}
