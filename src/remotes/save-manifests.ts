// Manifests that were read → the catalog, so that the last one of a uid in document order wins, whatever was fetched when.
import type { Catalog } from '../catalog/catalog.ts';
import type { Clock } from '../lib/world.ts';
import type { FailedManifest, FetchedManifest } from './fetch-manifest.ts';
import type { Progress } from './progress.ts';
import type { ReadManifest } from './read-manifest.ts';
import type { Member, MemberStore } from './store.ts';

export type ManifestOutcome = Exclude<FetchedManifest, { outcome: 'fetched' }> | ReadManifest | FailedManifest;

export interface SaveContext {
  remote: string;
  /** Every address that the index lists, with its place in it. */
  places: ReadonlyMap<string, number>;
  progress: Progress;
}

export interface ManifestSaver {
  /** In document order. */
  batch(outcomes: readonly ManifestOutcome[]): Promise<void>;
  /** Marks what the index does not list any more. */
  markMissing(urls: readonly string[]): Promise<void>;
  /** Once everything was fetched. */
  finish(): Promise<void>;
  /** Whether something must be fetched again the next time, although the index stays the same. */
  leavesWork(): boolean;
}

export function createManifestSaver(
  { catalog, members, now }: { catalog: Pick<Catalog, 'saveEntities'>; members: MemberStore; now: Clock },
  { remote, places, progress }: SaveContext,
): ManifestSaver {
  /** Manifests that a later one of the same uid stands in front of, as far as is known from the last time; not their texts, which may be many. */
  const hidden = new Map<string, Member>();
  let uncovered = 0;

  async function batch(outcomes: readonly ManifestOutcome[]): Promise<void> {
    progress.add({ unchanged: outcomes.filter(({ outcome }) => outcome === 'unchanged').length });
    await markMissing(outcomes.filter(({ outcome }) => outcome === 'deleted').map(({ url }) => url));

    const read = outcomes.filter((each) => each.outcome === 'manifest');
    const behind = await hiddenUrls(read.map(({ member }) => member));
    const shown = read.filter(({ url }) => !behind.has(url));
    for (const { url } of shown) hidden.delete(url);
    for (const { url, member } of read) if (behind.has(url)) hidden.set(url, member);
    progress.add({ unchanged: behind.size });
    await save(shown);
  }

  async function markMissing(urls: readonly string[]): Promise<void> {
    if (urls.length === 0) return;
    const left = await members.markMissing(remote, urls, now());
    uncovered += left.uncovered;
    progress.add({ missing: left.marked });
  }

  /** Addresses of those whose uid also has a manifest further down in the index. */
  async function hiddenUrls(read: readonly Member[]): Promise<Set<string>> {
    if (read.length === 0) return new Set();
    const uids = read.map(({ uid }) => uid);
    const rivals = Map.groupBy(await members.ofUids(remote, uids), ({ uid }) => uid);
    const place = (url: string) => places.get(url) ?? -1;
    const isHidden = (each: Member) => rivals.get(each.uid)?.some(({ url }) => place(url) > place(each.url));
    return new Set(read.filter(isHidden).map(({ url }) => url));
  }

  async function save(read: readonly ReadManifest[]): Promise<void> {
    if (read.length === 0) return;
    const outcomes = await catalog.saveEntities(read.map(({ entity }) => entity));
    await record(read.map(({ member }) => member));
    for (const outcome of outcomes) progress.add({ [outcome]: 1 });
  }

  async function record(recorded: readonly Member[]): Promise<void> {
    const left = await members.record(remote, recorded, now());
    uncovered += left.uncovered;
  }

  /** A manifest that was thought to be hidden, and is not after all, is wanted whole the next time. */
  async function finish(): Promise<void> {
    const waiting = [...hidden.values()];
    const behind = await hiddenUrls(waiting);
    const shown = waiting.filter(({ url }) => !behind.has(url));
    uncovered += shown.length;
    await record(waiting.filter(({ url }) => behind.has(url)));
    await record(shown.map((member) => ({ ...member, etag: null, lastModified: null, digest: '' })));
  }

  return { batch, markMissing, finish, leavesWork: () => uncovered > 0 };
}
