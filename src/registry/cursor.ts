// Cursors contain the end of a page and the query, because some clients send only the cursor for the next page.
import { z } from 'zod';
import { invalidRequest } from '../errors.ts';
import { parseJson } from '../lib/json.ts';
import { LONGEST_QUERY } from '../search/search-query.ts';
import type { EntryFilter } from './store.ts';

/** Cursors may be forged, and databases reject NUL. */
const Text = z.string().refine((text) => !text.includes('\u0000'));

/** `ranked` continues the semantic search results, which follow the matching names. */
const Position = z.object({
  in: z.enum(['names', 'ranked']),
  rank: z.int().min(0).max(2),
  name: Text.max(255),
  version: Text.max(255),
});
export type CursorPosition = z.infer<typeof Position>;

const Cursor = z.strictObject({
  after: Position,
  search: Text.max(LONGEST_QUERY).optional(),
  version: Text.max(255).optional(),
  updatedSince: Text.max(40).optional(),
  includeDeleted: z.boolean(),
});

export type ListedQuery = Omit<EntryFilter, 'view'> & { search?: string };

export function writeCursor(query: ListedQuery, after: CursorPosition): string {
  const { search, version, updatedSince, includeDeleted } = query;
  return Buffer.from(JSON.stringify({ after, search, version, updatedSince, includeDeleted })).toString('base64url');
}

/** Other parameters must match the query in the cursor. @throws HubError `invalid_request` */
export function readCursor(text: string, asked: Partial<ListedQuery>): { query: ListedQuery; after: CursorPosition } {
  const { data } = Cursor.safeParse(parseJson(Buffer.from(text, 'base64url').toString()));
  if (!data) throw invalidRequest('cursor', 'was not issued by this hub; start without it');
  const { after, ...query } = data;
  const differs = Object.entries(asked).some(
    ([key, value]) => value !== undefined && value !== query[key as keyof typeof query],
  );
  if (differs) throw invalidRequest('cursor', 'belongs to another query; start without it');
  return { query, after };
}
