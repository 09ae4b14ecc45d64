// Servers whose registration is missing or outdated: lists them, removes one or many.
import { describeServer, registrationFault, shownUrl } from '../../catalog/server.ts';
import { invalidRequest } from '../../errors.ts';
import { shownAddress } from '../../lib/secrets/secret-address.ts';
import type {
  BulkRemoval,
  BulkRemovalRequest,
  PendingItem,
  PendingPage,
  PendingQuery,
  RegistrationHistory,
  Removal,
} from '../contract.ts';
import type { PendingServer, RegistrationStore } from '../store.ts';

const DAYS_SHOWN = 30;

export interface PendingServers {
  list(query: PendingQuery): Promise<PendingPage>;
  /** Number of registrations by day. */
  history(): Promise<RegistrationHistory>;
  remove(uid: string): Promise<Removal>;
  /** @throws HubError `invalid_request` if it names no uids and `all` is false. */
  removeMany(request: BulkRemovalRequest): Promise<BulkRemoval>;
}

export function createPendingServers(
  store: RegistrationStore,
  { hasBackgroundSync }: { hasBackgroundSync: boolean },
): PendingServers {
  const present = (server: PendingServer) =>
    itemOf({ ...server, nextTryAt: hasBackgroundSync ? server.nextTryAt : null });
  return {
    async list(query) {
      const { servers, total, failedUpdates, unregistrable } = await store.pending(query);
      const counts = { count: servers.length, total, failed_updates: failedUpdates, unregistrable };
      return { items: servers.map(present), ...counts };
    },
    history: () => store.history(DAYS_SHOWN),
    async remove(uid) {
      const outcome = await store.remove(uid);
      return outcome === 'removed' ? { removed: true, uid } : { removed: false, uid, reason: outcome };
    },
    async removeMany({ uids, all, error_only: errorOnly }) {
      const named = new Set(uids);
      if (named.size === 0 && !all)
        throw invalidRequest('uids', "must name at least one server, or 'all' must be true");
      const { removed, skipped } = await store.removeMany({
        uids: named.size > 0 ? [...named] : undefined,
        errorOnly,
      });
      return { removed, skipped: Object.fromEntries(skipped), total_removed: removed.length };
    },
  };
}

function itemOf(server: PendingServer): PendingItem {
  const { url, transport } = describeServer(server.mcpRegistration);
  return {
    uid: server.uid,
    name: server.name,
    version: server.version,
    source_url: server.sourceUrl && shownAddress(server.sourceUrl),
    has_registration: server.mcpRegistration !== null,
    server_url: shownUrl(url),
    transport,
    gateway_error: server.gatewayError,
    gateway_registered_at: server.registeredAt,
    last_try_at: server.lastTryAt,
    next_try_at: server.nextTryAt,
    tries: server.tries,
    registrable: server.isRegistrable,
    reason: registrationFault({ ...server, type: 'mcp_server' }) ?? null,
  };
}
