// The gateway's tables, and how it names and shows their rows.
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../../../src/lib/json.ts';

export const KINDS = ['tools', 'resources', 'prompts', 'gateways'] as const;
export type Kind = (typeof KINDS)[number];

export interface Row {
  id: string | number;
  /** The name as sent. */
  originalName: string;
  /** The `name` in responses. */
  slug: string;
  gatewayId: string | null;
  enabled: boolean;
  fields: JsonObject;
  status: 'active' | 'pending' | 'deleting';
  lastError: string | null;
  version: number;
  /** The capabilities a server reported; empty if it was never contacted. */
  capabilities: JsonObject;
  /** The tenant whose token created it. */
  tenant: string;
}

export type Table = Record<Kind, Row[]>;

export function createTable(): Table {
  return { tools: [], resources: [], prompts: [], gateways: [] };
}

export function createRow(name: string, fields: JsonObject, more: Partial<Row> = {}): Row {
  return {
    id: randomUUID().replaceAll('-', ''),
    originalName: name,
    slug: slugify(name),
    gatewayId: null,
    enabled: true,
    fields,
    status: 'active',
    lastError: null,
    version: 1,
    capabilities: {},
    tenant: '',
    ...more,
  };
}

/** Implements the gateway's rule independently of the hub. */
export function slugify(text: string): string {
  let slug = '';
  for (const character of text.normalize('NFKD').toLowerCase()) {
    if (/[a-z0-9]/.test(character)) slug += character;
    else if (character === "'" || character === '’' || /\p{M}/u.test(character)) continue;
    else if (!slug.endsWith('-')) slug += '-';
  }
  return slug.replace(/^-|-$/g, '');
}

/** In camelCase like responses, with masked secrets. */
export function present(
  kind: Kind,
  { id, originalName, slug, gatewayId, enabled, fields, status, lastError, version, capabilities }: Row,
): JsonObject {
  const shown = Object.fromEntries(
    Object.entries(fields)
      .filter(([key]) => !key.startsWith('auth_'))
      .map(([key, value]) => [key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), value]),
  );
  const isServer = kind === 'gateways';
  return {
    ...shown,
    ...(fields.auth_type ? { authType: fields.auth_type } : {}),
    id,
    name: isServer || kind === 'resources' ? originalName : slug,
    ...(isServer
      ? { slug }
      : kind === 'resources'
        ? {}
        : { originalName, customName: originalName, customNameSlug: slug }),
    enabled,
    ...(kind === 'resources' ? { size: Buffer.byteLength(String(fields.content ?? '')) } : {}),
    ...(kind === 'gateways' ? { status, lastError, capabilities, toolCount: 0 } : { gatewayId }),
    visibility: 'public',
    version,
  };
}
