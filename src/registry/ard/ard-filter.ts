// The filters of ARD searches, facets and lists.
import { invalidRequest } from '../../errors.ts';
import { type ArdEntry, type ArdField, type ArdFilter, CARD_TYPE } from '../contract.ts';

export interface Listed {
  /** Sort key: the name of a server, or the identifier of an agent. */
  sortKey: string;
  publishedAt: string;
  shown: ArdEntry;
}

const OLD_CARD_TYPE = 'application/mcp-server+json';

/** Each named field must have one of its values. */
export function filterOf(filter: ArdFilter): (entry: ArdEntry) => boolean {
  const wanted = Object.entries(filter).map(([path, values]) => {
    const texts = [values].flat().map((value) => (value === OLD_CARD_TYPE ? CARD_TYPE : value).toLowerCase());
    return { read: valuesAt(path as ArdField), values: new Set(texts) };
  });
  return (entry) => wanted.every(({ read, values }) => read(entry).some((value) => values.has(value.toLowerCase())));
}

export function valuesAt(path: ArdField): (entry: ArdEntry) => readonly string[] {
  if (path === 'publisher') return ({ identifier }) => [identifier.split(':')[2] ?? ''];
  const [field = '', member] = path.split('.');
  return (entry) => {
    const value = member === undefined ? entry[field as keyof ArdEntry] : entry.metadata[member];
    return typeof value === 'string' ? [value] : Array.isArray(value) ? value : [];
  };
}

/** Parses `type=a,b AND publisherId=example.org AND updatedAfter=2026-05-01`; commas mean "or". @throws HubError `invalid_request` */
export function readListFilter(text = ''): (server: Listed) => boolean {
  const parts = text.split(/\s+AND\s+|;/i).filter((part) => part.trim() !== '');
  const conditions = parts.map((part) => {
    const [, field, list] = LIST_CONDITION.exec(part) ?? [];
    if (!field || !list)
      throw invalidRequest(
        'filter',
        'must have the form type=… AND publisherId=…, with the fields displayName, type, publisherId, createdAfter, updatedAfter',
      );
    const values = list.split(',').map((value) => value.trim().replace(/^["']|["']$/g, ''));
    if (field === 'createdAfter' || field === 'updatedAfter') return isLater(field, values);
    const isMatch = filterOf({ [field === 'publisherId' ? 'publisher' : field]: values });
    return ({ shown }: Listed) => isMatch(shown);
  });
  return (server) => conditions.every((isMatch) => isMatch(server));
}

const LIST_CONDITION = /^\s*(displayName|type|publisherId|createdAfter|updatedAfter)\s*[:=]\s*(.+?)\s*$/;

/** Compares with the earliest date, because commas mean "or". */
function isLater(field: 'createdAfter' | 'updatedAfter', dates: readonly string[]): (server: Listed) => boolean {
  if (!dates.every((date) => /^\d{4}-\d\d-\d\d/.test(date) && !Number.isNaN(Date.parse(date))))
    throw invalidRequest('filter', `must have a date such as 2026-05-01 or 2026-05-01T12:00:00Z after ${field}`);
  const earliest = Math.min(...dates.map((date) => Date.parse(date)));
  return ({ publishedAt, shown }) => Date.parse(field === 'createdAfter' ? publishedAt : shown.updatedAt) > earliest;
}
