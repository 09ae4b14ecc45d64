// Compares recorded items with each other, and with the gateway's rows.
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../lib/json.ts';
import type { GatewayItem } from '../store.ts';
import type { GatewayRow, GatewayRows } from './lookup.ts';
import { comparableUrl, slugOf } from './names.ts';

export function digestOf(body: JsonObject): string {
  return createHash('sha256').update(JSON.stringify(body)).digest('hex');
}

export function isSameItem(one: Pick<GatewayItem, 'kind' | 'id'>, other: Pick<GatewayItem, 'kind' | 'id'>): boolean {
  return one.kind === other.kind && one.id === other.id;
}

/** Whether the creation was requested without a response; the gateway may have it by now. */
export function isUnanswered({ askedAt }: Pick<GatewayItem, 'askedAt'>): boolean {
  return askedAt !== undefined;
}

/** The same item, now with a known id. */
export function answered({ askedAt, ...item }: GatewayItem): GatewayItem {
  return item;
}

export function rowOfItem(rows: GatewayRows, item: GatewayItem): GatewayRow | undefined {
  return rowsLike(rows, item).find((row) => isRowOf(item, row));
}

/** The row of an unanswered creation: one that matches no item with an id. */
export function lateRow(rows: GatewayRows, item: GatewayItem, items: readonly GatewayItem[]): GatewayRow | undefined {
  const isKnown = ({ id }: GatewayRow) => items.some((each) => each.kind === item.kind && each.id === id);
  return rowsLike(rows, item).find((row) => isRowOf(item, row) && !isKnown(row));
}

function rowsLike(rows: GatewayRows, item: GatewayItem): readonly GatewayRow[] {
  const { kind, id, name } = item;
  if (!isUnanswered(item)) return [rows.withId(id)].filter((row) => row !== undefined);
  if (kind === 'gateways') return rows.at(id);
  return kind === 'resources' ? rows.ofUri(name) : rows.named(name);
}

/** Up to 0.9, gateways number resources and prompts, so another gateway may use the same number for something else. */
export function isRowOf(item: GatewayItem, row: GatewayRow): boolean {
  const { kind, id, name } = item;
  const isNamed = row.uri === name || row.slugs.includes(slugOf(name));
  if (isUnanswered(item)) return isNamed && (kind === 'gateways' ? row.url === comparableUrl(id) : !row.isAdopted);
  return row.id === id && (!/^\d+$/.test(id) || row.isAdopted || isNamed);
}

/** Removes duplicates; the later record wins. */
export function mergedItems(before: readonly GatewayItem[], now: readonly GatewayItem[]): GatewayItem[] {
  return [...new Map([...before, ...now].map((item) => [`${item.kind} ${item.id}`, item])).values()];
}
