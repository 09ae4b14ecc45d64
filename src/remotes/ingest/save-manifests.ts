// Saves manifests so that the last one of a uid in document order wins, regardless of the order of fetching.
import { FetchError } from '../../lib/net/fetch-error.ts';
import type { Clock } from '../../lib/world.ts';
import type { ListedManifest, MemberStore, Reasons } from '../store.ts';
import type { Duplicates } from './duplicates.ts';
import type { IngestProgress } from './progress.ts';
import type { ManifestOutcome, ReadManifest } from './read-manifest.ts';

export interface SaveContext {
  remote: string;
  /** Whether it is a remote of this hub, rather than an address that is ingested once. */
  isStored: boolean;
  /** Every listed address, with its position in the index. */
  positions: ReadonlyMap<string, number>;
  progress: IngestProgress;
  duplicates: Pick<Duplicates, 'note' | 'savedAs'>;
}

export const REMOVED_MEANWHILE = 'was removed while it was being ingested';

export interface ManifestSaver {
  /** With `areChosen`, each manifest is the winner for its entity. */
  batch(outcomes: readonly ManifestOutcome[], options?: { areChosen?: boolean }): Promise<void>;
  /** Marks manifests that the index no longer lists, or lists as deleted. */
  markMissing(urls: readonly string[], reasons?: Reasons): Promise<void>;
}

export function createManifestSaver(
  { members, now }: { members: MemberStore; now: Clock },
  { remote, isStored, positions, progress, duplicates }: SaveContext,
): ManifestSaver {
  async function batch(outcomes: readonly ManifestOutcome[], { areChosen = false } = {}): Promise<void> {
    progress.add({ unchanged: outcomes.filter(({ outcome }) => outcome === 'unchanged').length });
    const read = outcomes.filter((each) => each.outcome === 'manifest');
    if (read.length > 0) await save(read, areChosen);
  }

  async function markMissing(urls: readonly string[], reasons?: Reasons): Promise<void> {
    if (urls.length === 0) return;
    const { manifests, uids } = await members.markMissing(remote, urls, now(), reasons);
    progress.missing(manifests, uids);
  }

  async function save(read: readonly ReadManifest[], areChosen: boolean): Promise<void> {
    const listed = read.map(({ member }) => member);
    const stored = await members.ofUids(
      remote,
      listed.map(({ uid }) => uid),
    );
    const last = lastOfEach([...stored, ...listed]);
    const shown = areChosen ? read : read.filter(({ url, member }) => last.get(member.uid) === url);
    // All are recorded, also duplicates and manifests of others' entities, so that unchanged ones are not fetched again.
    const entities = shown.map(({ entity, url }) => ({ entity, manifestUrl: url }));
    const outcomes = await members.record(remote, listed, now(), { entities, isStored });
    if (!outcomes) throw new FetchError(REMOVED_MEANWHILE, { isTemporary: false });
    const earlier = Map.groupBy(stored, ({ uid }) => uid);
    const earlierOutcomes = (uid: string) =>
      (earlier.get(uid) ?? []).flatMap(({ url }) => duplicates.savedAs(url) ?? []);
    progress.add({ unchanged: read.length - shown.length });
    for (const [index, outcome] of outcomes.entries()) {
      const { url = '', member } = shown[index] ?? {};
      progress.saved(member?.uid ?? '', outcome, earlierOutcomes(member?.uid ?? ''));
      duplicates.note(url, outcome);
    }
  }

  /** Maps each uid to the address of its last known manifest in the index. */
  function lastOfEach(manifests: readonly ListedManifest[]): Map<string, string> {
    const last = new Map<string, ListedManifest>();
    for (const each of manifests) {
      const other = last.get(each.uid);
      if (!other || position(each) >= position(other)) last.set(each.uid, each);
    }
    return new Map([...last].map(([uid, { url }]) => [uid, url]));
  }

  function position({ url }: ListedManifest): number {
    return positions.get(url) ?? -1;
  }

  return { batch, markMissing };
}
