// Fetches the manifest of an index entry, or reports that it did not change.
import { hash } from 'node:crypto';
import { FetchError } from '../../lib/net/fetch-error.ts';
import type { FetchReply } from '../../lib/world.ts';
import type { RemoteFetch } from '../credentials.ts';
import type { KnownMember, Member } from '../store.ts';
import { conditions, type FetchTask } from './fetch-index.ts';
import type { ListedEntry } from './index-worker.ts';

export type FetchedManifest =
  | { outcome: 'unchanged'; url: string }
  | { outcome: 'deleted'; url: string }
  | FetchedText
  | FailedManifest;

export interface FetchedText {
  outcome: 'fetched';
  url: string;
  text: string;
  /** Where it can be read again; a manifest in place has no address of its own. */
  sourceUrl?: string;
  member: Omit<Member, 'uid'>;
}

export interface FailedManifest {
  outcome: 'failed';
  url: string;
  error: string;
  /** Whether it is worth another try, although the index stays the same. */
  isTemporary: boolean;
}

/** `member` is what is known of it from before. Never rejects. */
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
    // What is marked as missing is wanted whole again.
    const known = member?.isMissing ? undefined : member;
    const judged = withoutFetching(entry, known, limits);
    return judged ? Promise.resolve(judged) : fetched(entry.url, { known, task }, limits);
  };
}

/** What can be said of an entry without a request; undefined when its manifest has to be fetched. */
function withoutFetching(
  { url, fault, isDeleted, text, digest }: ListedEntry,
  known: KnownMember | undefined,
  { maxManifestBytes }: ManifestLimits,
): FetchedManifest | undefined {
  if (fault !== undefined) return failed(url, { message: fault, isTemporary: false });
  if (CREDENTIALS.test(url))
    return failed(url, { message: 'has an address with credentials, which everyone could see', isTemporary: false });
  if (isDeleted) return { outcome: 'deleted', url };
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
    return failed(url, { message: `is larger than the ${maxManifestBytes} bytes that are read`, isTemporary: false });
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
