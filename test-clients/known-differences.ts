// Known differences between the hub and the official registry; docs/registry.md has the reasons in the same words.
import type { Difference } from './compare.ts';

export interface KnownDifference {
  /** The first column of the table in docs/registry.md. */
  here: string;
  covers(difference: Difference): boolean;
}

type Check = KnownDifference['covers'];

const field =
  (pattern: RegExp): Check =>
  ({ path }) =>
    pattern.test(path);
const status =
  (call: RegExp, hub: number, official: number): Check =>
  (found) =>
    found.path === 'status' && call.test(found.call) && found.hub === hub && found.official === official;

export const KNOWN: readonly KnownDifference[] = [
  {
    here: '`search` also finds by meaning, after the names that match',
    covers: ({ call, path, hub, official }) =>
      call.includes('search=') &&
      /^body\.(servers\.length|metadata\.count)$/.test(path) &&
      Number(hub) > Number(official),
  },
  { here: 'queries shorter than three characters are accepted', covers: status(/search=/, 200, 422) },
  { here: 'invalid parameters: 400', covers: status(/limit=|include_deleted=/, 400, 422) },
  { here: 'a repeated parameter: 400', covers: status(/(search|limit)=.*&\1=/, 400, 200) },
  {
    here: 'errors also have `type`, `code`, `error` and `request_id`, and different texts',
    covers: field(/^body\.(title|detail|type|code|error|request_id|errors(\..+)?)$/),
  },
  { here: '`updatedAt`: when the entry in this hub changed', covers: field(/\/official\.updatedAt$/) },
  {
    here: 'deleted entries: when this hub stopped listing them, and the reason of their registry if it gave one',
    covers: ({ call, path }) =>
      /include_deleted=true|updated_since/.test(call) && /\/official\.status(ChangedAt|Message)$/.test(path),
  },
  {
    here: '`_meta` also has the ids, the tags, the page on the hub, and the hubs the entry came through',
    covers: field(/_meta\.(localhost\/catalog|catalog-hub\/hubs)$/),
  },
  {
    here: '`registryBaseUrl` of a public registry is left out',
    covers: ({ path, hub }) => path.endsWith('.registryBaseUrl') && hub === undefined,
  },
  { here: 'cursors contain the query', covers: field(/^body\.metadata\.nextCursor$/) },
  { here: 'cursors of other registries: 400', covers: status(/cursor=/, 400, 200) },
  { here: 'a `/` in a name is accepted', covers: status(/notes\/notes\/versions$/, 200, 404) },
  { here: 'names that cannot be decoded: 404', covers: status(/%(00|ZZ)/, 404, 400) },
  { here: '`/v0/servers/{name}` returns the latest version', covers: status(/ \/v0\/servers\/[^/]+$/, 200, 404) },
  { here: 'a trailing slash is accepted', covers: status(/\/$/, 200, 308) },
  { here: 'methods that an address does not support: 405', covers: status(/^(DELETE|PUT|POST) |\/publish$/, 405, 404) },
  { here: '`ETag` and `Cache-Control`', covers: field(/^headers\.(etag|cache-control)$/) },
  { here: '`charset=utf-8` in the content type', covers: field(/^headers\.content-type$/) },
  {
    here: 'no CORS headers for unknown addresses and for publishing',
    covers: ({ call, path }) => /\/(nothing|publish)$/.test(call) && path === 'headers.access-control-allow-origin',
  },
  { here: '`/version`: the version of the hub', covers: field(/^body\.(version|git_commit|build_time)$/) },
];
