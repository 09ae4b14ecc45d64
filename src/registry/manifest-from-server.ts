// Converts a `server.json` to a manifest: packages become artifacts, and remotes become the registration.
import { artifactOfPackage } from '../catalog/launch/package-artifact.ts';
import { launchPackage } from '../catalog/launch/registry-package.ts';
import { asObject, asObjects, asText, type JsonObject } from '../lib/json.ts';
import { fillGaps } from '../lib/secrets/secret-address.ts';
import { PUBLISHER_META } from './contract.ts';

/** `official` is the registry's data about the server: status and dates. */
export function manifestFromServer(server: JsonObject, official: JsonObject): JsonObject {
  const packages = asObjects(server.packages);
  const remotes = asObjects(server.remotes);
  const name = String(server.name ?? '');
  const repository = asText(asObject(server.repository).url);
  const homepage = asText(server.websiteUrl);
  const status = asText(official.status ?? server.status)?.toLowerCase() ?? 'active';
  const message = asText(official.statusMessage) ?? null;
  const changedAt = asText(official.statusChangedAt);
  return {
    schema_version: 1,
    type: 'mcp_server',
    id: name,
    name,
    title: asText(server.title) ?? null,
    version: asText(server.version) ?? '',
    description: asText(server.description) ?? '',
    ...(homepage ? { homepage } : {}),
    ...(repository ? { source_url: repository } : {}),
    links: { ...(repository ? { repository } : {}), ...(homepage ? { homepage } : {}) },
    lifecycle: lifecycleOf(status, message),
    provenance: {
      source: 'mcp-registry',
      server_name: name,
      published_at: official.publishedAt ?? null,
      updated_at: official.updatedAt ?? null,
      ...(status === 'deleted' ? { registry_status: status } : {}),
      ...(status !== 'active' && changedAt ? { status_changed_at: changedAt } : {}),
    },
    artifacts: packages.map(artifactOfPackage),
    packages,
    remotes,
    ...registrationOf(server),
    ...whatOnlyRegistriesRead(server),
  };
}

/** Kept unchanged, so that the server can be listed again as published. */
function whatOnlyRegistriesRead({ repository, icons, _meta }: JsonObject): JsonObject {
  const provided = asObject(_meta)[PUBLISHER_META];
  return {
    ...(asText(asObject(repository).source) ? { repository } : {}),
    ...(asObjects(icons).length > 0 ? { icons } : {}),
    ...(provided === undefined ? {} : { _meta: { [PUBLISHER_META]: provided } }),
  };
}

export function lifecycleOf(status: string, message: string | null): JsonObject {
  if (status === 'deleted') return { status: 'disabled', reason: message ?? 'Withdrawn from the registry.' };
  if (status !== 'deprecated') return { status: 'active' };
  return message === null ? { status } : { status, reason: message };
}

/** Registers a remote server by its address, and a local one by its command. */
export function registrationOf({ packages, remotes }: JsonObject): JsonObject {
  const remote = asObjects(remotes).find(({ url }) => typeof url === 'string');
  if (remote) {
    const type = asText(remote.type)?.toLowerCase();
    return {
      mcp_registration: { server: { transport: type === 'sse' ? 'SSE' : 'STREAMABLEHTTP', url: remote.url } },
    };
  }
  const [pack] = asObjects(packages);
  return pack ? { mcp_registration: { server: { transport: 'STDIO', exec: commandOf(pack) } } } : {};
}

/** Values that users must fill in appear as `<name>` in `cmd`, and as `${NAME}` in `env`. */
interface RegistryCommand {
  /** Empty if no program is known to run the package. */
  cmd: string[];
  env: Record<string, string>;
}

export function commandOf(pack: JsonObject): RegistryCommand {
  const launch = launchPackage(pack);
  if (launch.kind !== 'command') return { cmd: [], env: {} };
  const args = launch.args.map((word) => fillGaps(word, ({ name }) => `<${name}>`));
  const env = launch.env.map(({ name, value }) => [name, value ?? `\${${name}}`]);
  return { cmd: [launch.command, ...args], env: Object.fromEntries(env) };
}
