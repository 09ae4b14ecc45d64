// Shows the known trust signals of an entity, and checks them on request.
import type { Catalog } from '../catalog/catalog.ts';
import type { Trust } from '../catalog/contract.ts';
import { weakestState } from '../catalog/trust-signals.ts';
import type { EntityUid } from '../catalog/uid.ts';
import { HubError } from '../errors.ts';
import { asObject } from '../lib/json.ts';
import type { Fetch, World } from '../lib/world.ts';
import type { CheckSettings } from './check-artifacts.ts';
import type { TrustChecked } from './contract.ts';
import type { TrustStore } from './store.ts';

export interface TrustChecks {
  /** Queries the registries and stores the result. Without a version, checks the newest one. @throws HubError `entity_not_found` */
  check(id: string): Promise<TrustChecked>;
  close(): Promise<void>;
}

interface TrustSettings extends Pick<CheckSettings, 'npmRegistry' | 'pypiIndex' | 'rootFile'> {
  checksApprovals: boolean;
}

export interface TrustDependencies {
  settings: TrustSettings;
  store: TrustStore;
  catalog: Pick<Catalog, 'get' | 'manifest'>;
  /** Removes from the gateway what belongs to deleted, blocked or forbidden entities. */
  clearGateway: () => Promise<{ note?: string }>;
  /** At most one hub per database checks waiting entities. */
  tryLock: (name: string) => Promise<{ release(): Promise<void> } | undefined>;
  world: Pick<World, 'now' | 'fetch' | 'fetchTrusted' | 'log'>;
}

const LONGEST_CHECK_MS = 60_000;
const LOOK_EVERY_MS = 60_000;
const MOST_AT_ONCE = 20;
/** When to retry what a registry could not answer. */
const RETRY_MS = 3_600_000;
/** A registry that is temporarily unavailable does not invalidate an earlier result. */
const KEPT = 'It could not be checked this time, so the earlier result stands.';

export function createTrustChecks(dependencies: TrustDependencies): TrustChecks {
  const { settings, store, catalog, clearGateway, tryLock, world } = dependencies;
  const retryAt = () => new Date(world.now().getTime() + RETRY_MS);
  const stopping = new AbortController();
  let looking: Promise<void> | undefined;

  async function check(id: string): Promise<TrustChecked> {
    const record = await catalog.get(id);
    const brings = await store.contentDigest(record.id);
    if (brings === undefined) throw new HubError('entity_not_found', `No entity '${record.id}' is in the catalog.`);
    const { checkArtifacts } = await import('./check-artifacts.ts');
    const document = asObject(JSON.parse((await catalog.manifest(record.id)).text));
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(LONGEST_CHECK_MS)]);
    let hasAsked = false;
    const asking = (fetch: Fetch): Fetch => {
      return (request) => {
        hasAsked = true;
        return fetch(request);
      };
    };
    const outside = { fetch: asking(world.fetch), fetchTrusted: asking(world.fetchTrusted) };
    const signals = await checkArtifacts(document, { ...settings, ...outside, signal });
    const trust: Trust = { state: weakestState(signals), checked_at: world.now().toISOString(), signals };
    stopping.signal.throwIfAborted();
    const { trust: earlier } = record;
    if (trust.state === 'not_checked' && earlier?.checked_at && earlier.state !== 'not_checked')
      return shown(record.id, { note: KEPT });
    // If no registry was queried, a retry would change nothing.
    const isOpen = trust.state === 'not_checked' && hasAsked;
    const { isReadmitted } = await store.record(record.id, brings, { trust, retryAt: isOpen ? retryAt() : null });
    return shown(record.id, isReadmitted ? await clearGateway() : {});
  }

  async function shown(id: EntityUid, notes: { note?: string }): Promise<TrustChecked> {
    const { trust } = await catalog.get(id);
    return { id, ...trust, ...notes };
  }

  async function checkWaiting(): Promise<void> {
    const lock = await tryLock('trust checks');
    if (!lock) return;
    try {
      for (const uid of await store.waiting(world.now(), MOST_AT_ONCE)) {
        if (stopping.signal.aborted) return;
        await check(uid).catch((error) => postpone(uid, error));
      }
    } finally {
      await lock.release();
    }
  }

  /** An entity that cannot be checked does not block the others. */
  async function postpone(uid: EntityUid, error: unknown): Promise<void> {
    if (stopping.signal.aborted) return;
    world.log.error({ error, uid }, `The origin of '${uid}' could not be checked`);
    await store.postpone(uid, retryAt());
  }

  const look = () => {
    looking ??= checkWaiting()
      .catch((error) => {
        if (!stopping.signal.aborted) world.log.error({ error }, 'Checking entities that wait for approval failed');
      })
      .finally(() => {
        looking = undefined;
      });
  };
  const timer = settings.checksApprovals ? setInterval(look, LOOK_EVERY_MS).unref() : undefined;
  if (settings.checksApprovals) look();

  return {
    check,
    async close() {
      stopping.abort();
      clearInterval(timer);
      await looking;
    },
  };
}
