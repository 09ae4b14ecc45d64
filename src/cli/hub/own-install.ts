// Installs on this machine, with the rights of the current user, from the catalog of any hub.
import { HubError } from '../../errors.ts';
import type { Hub } from '../../hub/hub.ts';
import type { HubOperations } from '../../hub/operations.ts';
import type { Install, InstallDependencies } from '../../install/install.ts';
import type { FetchSingleManifest } from '../../remotes/ingest/single-manifest.ts';
import type { Call } from '../command.ts';
import { lineLogger } from '../terminal/line-logger.ts';
import { machineUser } from './reach-hub.ts';

/** What the user allows beyond the defaults. */
export interface InstallRights {
  allowScripts?: boolean;
  allowBuild?: boolean;
}

export interface OwnInstallOptions extends InstallRights {
  /** False for commands that only read a folder. */
  withCatalog?: boolean;
}

export interface OwnInstall extends Install, AsyncDisposable {
  fetchManifest: FetchSingleManifest;
}

type Source = Pick<InstallDependencies, 'catalog' | 'gateway' | 'isGatewayConfigured'>;

/** Creates no catalog. Without a local catalog, it can still restore a lockfile or install a manifest. */
export async function openOwnInstall(
  { access, terminal }: Pick<Call, 'access' | 'terminal'>,
  { allowScripts = false, allowBuild = false, withCatalog = true }: OwnInstallOptions = {},
): Promise<OwnInstall> {
  const [{ createInstall }, { openWorld }, { openManifestFetcher }, { manifestOf }] = await Promise.all([
    import('../../install/install.ts'),
    import('./world.ts'),
    import('../../remotes/open-remotes.ts'),
    import('../../registry/listed-server.ts'),
  ]);
  const config = access.config();
  const { world, close: closeWorld } = openWorld(config, lineLogger(terminal), terminal.environment);
  const manifests = openManifestFetcher({ settings: config.ingest, credentials: config.remoteCredentials, world });
  const { allowPrivateNetwork, installCredentialsFor: credentialsFor } = config;
  const local = withCatalog && access.serverUrl === undefined ? await access.findLocal() : undefined;
  const install = createInstall({
    ...(withCatalog ? await sourceOf(access, local) : { catalog: NO_CATALOG, ...NO_GATEWAY }),
    manifestOf,
    world,
    targets: { installRoot: config.installRoot, workingDir: process.cwd() },
    atOnce: 1,
    rules: { allowPrivateNetwork, trust: { isOwnMachine: true, allowScripts, allowBuild, credentialsFor } },
  });
  const stop = () => void install.close();
  terminal.shutdown.addEventListener('abort', stop, { once: true });
  return {
    ...install,
    ...(local && { install: recordedInstall(install, local) }),
    fetchManifest: manifests.fetchManifest,
    async [Symbol.asyncDispose]() {
      terminal.shutdown.removeEventListener('abort', stop);
      await install.close();
      await Promise.all([manifests.close(), closeWorld()]);
    },
  };
}

/** Only the other hub registers servers with its gateway. */
const NO_GATEWAY = { gateway: { registerOne: async () => undefined }, isGatewayConfigured: false };

/** Records installs in the audit log of the local hub, with the full path of the folder. */
function recordedInstall(own: Pick<Install, 'install' | 'folderOf'>, local: Hub): Install['install'] {
  return async (request, onEvent) => {
    const recorded = local.as(machineUser(), { install: () => own.install(request, onEvent) });
    return recorded.install({ ...request, target: await own.folderOf(request.target) });
  };
}

async function sourceOf(access: Call['access'], local: Hub | undefined): Promise<Source> {
  if (access.serverUrl !== undefined) return { catalog: readOnly(await access.open()), ...NO_GATEWAY };
  if (!local) return { catalog: NO_CATALOG, ...NO_GATEWAY };
  const { baseUrl, gateway } = access.config();
  return {
    catalog: { ...readOnly(local), save: local.save, refusalOf: local.refusalOf, isServed: baseUrl !== undefined },
    gateway: local,
    isGatewayConfigured: gateway !== undefined,
  };
}

function readOnly(hub: Pick<HubOperations, 'getEntity' | 'getManifest'>): Source['catalog'] {
  return {
    get: (id, options) => hub.getEntity(id, options),
    manifest: (id, options) => hub.getManifest(id, options),
    isServed: true,
  };
}

const notFound = async (id: string) => {
  throw new HubError('entity_not_found', `No entity '${id}' is in the catalog.`);
};
const NO_CATALOG: Source['catalog'] = { get: notFound, manifest: notFound, isServed: false };
