// Manifests that were read → the catalog, so that the last one of a uid in document order wins, whatever was fetched when.
import type { Catalog } from '../catalog/catalog.ts';
import type { Clock } from '../lib/world.ts';
import type { Progress } from './progress.ts';
import type { ManifestOutcome, ReadManifest } from './read-manifest.ts';
import type { Rivals } from './rivals.ts';
import type { Member, MemberStore, Rival } from './store.ts';

export interface SaveContext {
  remote: string;
  /** Every address that the index lists, with its place in it. */
  places: ReadonlyMap<string, number>;
  progress: Progress;
  rivals: Pick<Rivals, 'tell'>;
}

export interface ManifestSaver {
  /** In document order. */
  batch(outcomes: readonly ManifestOutcome[]): Promise<void>;
  /** Marks what the index does not list any more. */
  markMissing(urls: readonly string[]): Promise<void>;
}

export function createManifestSaver(
  { catalog, members, now }: { catalog: Pick<Catalog, 'saveEntities'>; members: MemberStore; now: Clock },
  { remote, places, progress, rivals }: SaveContext,
): ManifestSaver {
  async function batch(outcomes: readonly ManifestOutcome[]): Promise<void> {
    progress.add({ unchanged: outcomes.filter(({ outcome }) => outcome === 'unchanged').length });
    await markMissing(outcomes.filter(({ outcome }) => outcome === 'deleted').map(({ url }) => url));
    const read = outcomes.filter((each) => each.outcome === 'manifest');
    if (read.length > 0) await save(read);
  }

  async function markMissing(urls: readonly string[]): Promise<void> {
    if (urls.length > 0) progress.add({ missing: await members.markMissing(remote, urls, now()) });
  }

  async function save(read: readonly ReadManifest[]): Promise<void> {
    const uids = read.map(({ member }) => member.uid);
    const stored = await members.ofUids(remote, uids);
    const hidden = hiddenUrls(
      read.map(({ member }) => member),
      stored,
    );
    const shown = read.filter(({ url }) => !hidden.has(url));
    await doubtFronts(shown, stored);
    const outcomes = await catalog.saveEntities(shown.map(({ entity }) => entity));
    for (const { url } of shown) rivals.tell(url, 'saved');
    // What is hidden as well: it is not sent again as long as it stays the same.
    await members.record(
      remote,
      read.map(({ member }) => member),
      now(),
    );
    progress.add({ unchanged: hidden.size });
    for (const outcome of outcomes) progress.add({ [outcome]: 1 });
  }

  /** Addresses of those whose uid also has a manifest further down in the index, as far as is known. */
  function hiddenUrls(read: readonly Member[], stored: readonly Rival[]): Set<string> {
    const urls = new Set(read.map(({ url }) => url));
    const others = stored.filter(({ url }) => !urls.has(url));
    const lastPlaces = new Map<string, number>();
    for (const { url, uid } of [...others, ...read])
      lastPlaces.set(uid, Math.max(place(url), lastPlaces.get(uid) ?? -1));
    return new Set(read.filter(({ url, uid }) => place(url) < (lastPlaces.get(uid) ?? -1)).map(({ url }) => url));
  }

  /**
   * Entities that are about to be made of another manifest than was noted. Before they are, because a run may end at any
   * moment: the next one then makes some anew for nothing, but takes none for what it is not.
   */
  async function doubtFronts(shown: readonly ReadManifest[], stored: readonly Rival[]): Promise<void> {
    const fronts = new Map(stored.map(({ uid, front }) => [uid, front]));
    const doubted = shown.filter(({ url, member }) => (fronts.get(member.uid) ?? url) !== url);
    const uids = new Set(doubted.map(({ member }) => member.uid));
    if (uids.size > 0)
      await members.noteFronts(
        remote,
        [...uids].map((uid) => ({ uid, url: null })),
      );
  }

  function place(url: string): number {
    return places.get(url) ?? -1;
  }

  return { batch, markMissing };
}
