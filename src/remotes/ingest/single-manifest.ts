// Fetches a single manifest by its address, without an index.
import { type Entity, entityOfText } from '../../catalog/entity.ts';
import type { FetchManifest } from '../fetching/fetch-manifest.ts';
import type { ManifestReader } from './read-manifest.ts';

export type FetchSingleManifest = (url: string, signal: AbortSignal) => Promise<{ entity: Entity } | { error: string }>;

/** Parses the manifest like an ingest. Rejects only if the signal is aborted. */
export function createSingleManifestFetcher(
  fetchManifest: FetchManifest,
  manifestReader: Pick<ManifestReader, 'read'>,
): FetchSingleManifest {
  return async (url, signal) => {
    const fetched = await fetchManifest({ url }, undefined, { remote: url, signal });
    const read = fetched.outcome === 'fetched' ? (await manifestReader.read([fetched], signal))[0] : fetched;
    if (read?.outcome === 'manifest') return { entity: entityOfText(read.entity) };
    return { error: read?.outcome === 'failed' ? read.error : 'has no manifest' };
  };
}
