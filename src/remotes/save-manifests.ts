// Fetched manifests → the catalog, so that the last one of a uid in document order wins, whatever was fetched when.
import type { Catalog } from '../catalog/catalog.ts';
import type { Clock } from '../lib/world.ts';
import type { FetchedManifest } from './fetch-manifest.ts';
import type { Progress } from './progress.ts';
import type { MemberStore } from './store.ts';

export interface SaveContext {
  remote: string;
  /** Every address that the index lists, with its place in it. */
  places: ReadonlyMap<string, number>;
  progress: Progress;
}

type ReadManifest = Extract<FetchedManifest, { outcome: 'manifest' }>;

export function saveManifests(
  { catalog, members, now }: { catalog: Pick<Catalog, 'saveEntities'>; members: MemberStore; now: Clock },
  { remote, places, progress }: SaveContext,
) {
  /** Manifests that a later one of the same uid stands in front of, as far as is known from the last time. */
  const hidden = new Map<string, ReadManifest>();

  async function batch(fetched: readonly FetchedManifest[]): Promise<void> {
    const deleted = fetched.filter(({ outcome }) => outcome === 'deleted').map(({ url }) => url);
    if (deleted.length > 0) await members.markMissing(remote, deleted, now());
    progress.add({
      unchanged: fetched.filter(({ outcome }) => outcome === 'unchanged').length,
      missing: deleted.length,
    });

    const read = fetched.filter((each) => each.outcome === 'manifest');
    if (read.length === 0) return;
    const behind = await hiddenUrls(read);
    const shown = read.filter(({ url }) => !behind.has(url));
    for (const each of read) if (behind.has(each.url)) hidden.set(each.url, each);
    progress.add({ unchanged: read.length - shown.length });
    await save(shown);
  }

  /** Addresses of those whose uid also has a manifest further down in the index. */
  async function hiddenUrls(read: readonly ReadManifest[]): Promise<Set<string>> {
    if (read.length === 0) return new Set();
    const rivals = Map.groupBy(
      await members.ofUids(
        remote,
        read.map(({ entity }) => entity.uid),
      ),
      ({ uid }) => uid,
    );
    const place = (url: string) => places.get(url) ?? -1;
    const isHidden = (each: ReadManifest) =>
      rivals.get(each.entity.uid)?.some(({ url }) => place(url) > place(each.url));
    return new Set(read.filter(isHidden).map(({ url }) => url));
  }

  async function save(read: readonly ReadManifest[]): Promise<void> {
    if (read.length === 0) return;
    const outcomes = await catalog.saveEntities(read.map(({ entity }) => entity));
    await members.record(
      remote,
      read.map(({ member }) => member),
    );
    for (const outcome of outcomes) progress.add({ [outcome]: 1 });
  }

  /** A manifest that was thought to be hidden, and is not after all, is saved now. */
  async function finish(): Promise<void> {
    const read = [...hidden.values()];
    const behind = await hiddenUrls(read);
    const shown = read.filter(({ url }) => !behind.has(url));
    progress.add({ unchanged: -shown.length });
    await save(shown);
    await members.record(
      remote,
      read.filter(({ url }) => behind.has(url)).map(({ member }) => member),
    );
  }

  return { batch, finish };
}
