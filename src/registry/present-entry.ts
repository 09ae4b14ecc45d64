// Renders an entry as the registry's clients see it.
import { uidInAddress } from '../catalog/entity.ts';
import { HUBS_META, OFFICIAL_META, type ServerResponse } from './contract.ts';
import type { AboutEntry, RegistryEntry } from './store.ts';

/** The hub that serves the entry. */
export interface Presenter {
  baseUrl: string;
  hubId: string;
}

/** Inserts the stored `server.json` text without parsing it, because a list has a hundred of them. */
export function entryText(entry: RegistryEntry, { baseUrl, hubId }: Presenter): string {
  const { ids, tags, note, hubs = [] } = JSON.parse(entry.about) as AboutEntry;
  const meta = {
    [OFFICIAL_META]: {
      status: entry.status,
      statusChangedAt: entry.statusChangedAt,
      ...(entry.statusMessage === null ? {} : { statusMessage: entry.statusMessage }),
      publishedAt: entry.publishedAt,
      updatedAt: entry.updatedAt,
      isLatest: entry.isLatest,
    },
    [`${reversedHost(baseUrl)}/catalog`]: {
      ids,
      ...(tags ? { tags } : {}),
      ...(note ? { note } : {}),
      url: `${baseUrl}/entities/${uidInAddress(ids[0] ?? '')}`,
    },
    [HUBS_META]: [...hubs, hubId],
  };
  return `{"server":${entry.server},"_meta":${JSON.stringify(meta)}}`;
}

export function presentEntry(entry: RegistryEntry, presenter: Presenter): ServerResponse {
  return JSON.parse(entryText(entry, presenter)) as ServerResponse;
}

/** Metadata keys begin with a reversed domain. */
export function reversedHost(url: string): string {
  const { hostname } = new URL(url);
  return /^[\d.]+$|^\[/.test(hostname) ? 'localhost' : hostname.split('.').toReversed().join('.');
}
