// Lists a whole catalog without threads.
import type { Ranking, RankRequest } from '../../../src/search/engine/engine.ts';
import type { SearchIndex } from '../../../src/search/engine/search-index.ts';
import { countsFrom } from '../../../src/search/facet-values.ts';
import { countFacets } from '../../../src/search/index/facets.ts';
import { buildSegment } from '../../../src/search/index/segment-builder.ts';
import { createSnapshotReader, type Snapshot } from '../../../src/search/index/snapshot.ts';
import { createLister, type Lister } from '../../../src/search/ranking/lister.ts';

type Index = Pick<SearchIndex, 'families'>;

export async function listerOf(index: Index): Promise<Lister> {
  return createLister(await snapshotFrom(index));
}

/** The ranking, with the facets of its hits if requested. */
export async function withFacets(ranking: Ranking, request: RankRequest, index: Index): Promise<Ranking> {
  if (!request.withFacets) return ranking;
  const uids = new Set(ranking.hits.map(({ uid }) => uid));
  const found = (await snapshotFrom(index)).segments.map(({ segment }) => ({
    segment,
    members: [...segment.flags.keys()].filter((member) => uids.has(segment.uids.at(member))),
  }));
  return { ...ranking, ...countsFrom(countFacets(found), request.facetText) };
}

async function snapshotFrom(index: Index): Promise<Snapshot> {
  const entries = await index.families(undefined, 10_000);
  const families = Map.groupBy(entries, ({ type, name }) => `${type} ${name}`).values();
  return snapshotOf([...families].map((versions) => ({ versions, manifest: undefined })));
}

/** A single segment with everything. */
export function snapshotOf(families: Parameters<typeof buildSegment>[0]): Snapshot {
  const parts = { id: 1, block: buildSegment(families), dead: new SharedArrayBuffer(families.length) };
  return createSnapshotReader()([parts]);
}
