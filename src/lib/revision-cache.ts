// A cache of what was read at the current revision of the catalog.
import { LRUCache } from 'lru-cache';

/** The cache for a revision, empty when the revision is new. Call it before a read: a read that a change overtakes then fills an old cache. */
export type RevisionCache<Value extends object> = (revision: number) => LRUCache<string, Value>;

export function createRevisionCache<Value extends object>(
  options: LRUCache.OptionsMaxLimit<string, Value, unknown> | LRUCache.OptionsSizeLimit<string, Value, unknown>,
): RevisionCache<Value> {
  let current: { revision: number; cache: LRUCache<string, Value> } | undefined;
  return (revision) => {
    if (current?.revision !== revision) current = { revision, cache: new LRUCache<string, Value>(options) };
    return current.cache;
  };
}
