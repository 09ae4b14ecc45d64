// Families for tests of the index, without a database.
import { entityFromManifest } from '../../../src/catalog/entity.ts';
import { isPrerelease, versionKey } from '../../../src/catalog/version-order.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { IndexEntry } from '../../../src/search/engine/search-index.ts';
import { describing, type Family } from '../../../src/search/index/segment-builder.ts';

interface EntryFields extends Partial<Omit<IndexEntry, 'facets' | 'versionKey' | 'isPrerelease'>> {
  version?: string;
  facets?: Record<string, string[]>;
}

let minutes = 0;

/** Each entry arrives a minute after the previous one. */
export function anEntry({ version = '1.0.0', facets = {}, ...fields }: EntryFields = {}): IndexEntry {
  const { type = 'tool', name = 'a' } = fields;
  minutes += 1;
  return {
    uid: `${type}:${name}@${version}`,
    type,
    name,
    title: null,
    slug: name,
    versionKey: versionKey(version),
    isPrerelease: isPrerelease(version),
    status: 'active',
    createdAt: new Date(Date.parse('2026-01-01T00:00:00Z') + minutes * 60_000).toISOString(),
    isRegistered: false,
    facets: JSON.stringify(facets),
    quality: 0.5,
    publishedAt: null,
    ...fields,
  };
}

export function familiesOf(entries: readonly IndexEntry[]): Family[] {
  const families = Map.groupBy(entries, ({ type, name }) => `${type} ${name}`);
  return [...families.values()].map((versions) => ({ versions, manifest: undefined }));
}

/** The families of a catalog with these manifests. */
export function familiesFrom(...manifests: JsonObject[]): Family[] {
  const texts = new Map<string, string>();
  const entries = manifests.map((document): IndexEntry => {
    const { facets, ...entity } = entityFromManifest({ document });
    texts.set(entity.uid, JSON.stringify(document));
    minutes += 1;
    const createdAt = new Date(minutes * 60_000).toISOString();
    return { ...entity, facets: JSON.stringify(facets), isRegistered: false, createdAt };
  });
  return familiesOf(entries).map(({ versions }) => ({
    versions,
    manifest: texts.get(describing(versions)?.uid ?? ''),
  }));
}
