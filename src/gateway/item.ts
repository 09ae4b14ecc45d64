// Compares what the hub remembers of its items with each other, and with the gateway's rows.
import { createHash } from 'node:crypto';
import type { JsonObject } from '../lib/json.ts';
import type { GatewayRow, GatewayRows } from './lookup.ts';
import { comparableUrl, slugOf } from './names.ts';
import type { GatewayItem } from './store.ts';

export function digestOf(body: JsonObject): string {
  return createHash('sha256').update(JSON.stringify(body)).digest('hex');
}

export function isSameItem(one: Pick<GatewayItem, 'kind' | 'id'>, other: Pick<GatewayItem, 'kind' | 'id'>): boolean {
  return one.kind === other.kind && one.id === other.id;
}

type NamedItem = Pick<GatewayItem, 'id' | 'name'>;

/** It was to be created, and no answer came: the gateway may have it by now. Its id is its address. */
export function isUnanswered({ id }: Pick<GatewayItem, 'id'>): boolean {
  return id.includes('://');
}

/** The same, now that its id is known. */
export function answered({ askedAt, ...item }: GatewayItem): GatewayItem {
  return item;
}

export function rowOfItem(rows: GatewayRows, item: NamedItem): GatewayRow | undefined {
  const row = rows.withId(item.id);
  return (row ? [row] : rows.at(item.id)).find((each) => isRowOf(item, each));
}

/** Gateways up to 0.9 number resources and prompts, so that another gateway has something else under the same number. */
export function isRowOf({ id, name }: NamedItem, row: GatewayRow): boolean {
  if (isUnanswered({ id })) return row.url === comparableUrl(id) && row.slugs.includes(slugOf(name));
  if (row.id !== id) return false;
  return !/^\d+$/.test(id) || row.isAdopted || row.uri === name || row.slugs.includes(slugOf(name));
}

/** Each once; where both have an item, the later record counts. */
export function mergedItems(before: readonly GatewayItem[], now: readonly GatewayItem[]): GatewayItem[] {
  return [...new Map([...before, ...now].map((item) => [`${item.kind} ${item.id}`, item])).values()];
}
