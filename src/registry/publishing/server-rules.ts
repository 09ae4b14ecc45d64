// Rules of the official registry that the schema of `server.json` cannot express. Where a company's hub may be less strict, it only warns.
import { versionFault } from '../../catalog/uid.ts';
import { PUBLISHER_META, SERVER_SCHEMA, type ValidationIssue } from '../contract.ts';
import type { PublishedServer } from './server-schema.ts';

const KNOWN_SCHEMAS = ['2025-07-09', '2025-09-16', '2025-09-29', '2025-10-11', '2025-10-17', '2025-12-11'];
const LONGEST_META_BYTES = 4_096;
const LOOPBACK = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\]|[^/:?#]*\.localhost)([:/?#]|$)/i;

type Package = NonNullable<PublishedServer['packages']>[number];
type Remote = NonNullable<PublishedServer['remotes']>[number];

/** Checks only `$schema`, so that an old schema is reported first. */
export function schemaIssues({ $schema }: { $schema?: unknown }): ValidationIssue[] {
  if (typeof $schema !== 'string' || $schema === '')
    return [error('schema', `is missing: write "$schema": "${SERVER_SCHEMA}"`, 'schema-field-required')];
  const [, release] = /\/schemas\/([\w~.-]+)\/server\.schema\.json/.exec($schema) ?? [];
  if (!release) return [error('schema', `must be ${SERVER_SCHEMA}`, 'schema-version-extraction-error', 'schema')];
  if (!KNOWN_SCHEMAS.includes(release))
    return [error('schema', `${release} is not known: use ${SERVER_SCHEMA}`, 'schema-version-not-available', 'schema')];
  if ($schema === SERVER_SCHEMA) return [];
  const advice = `${release} is not the current one: write "$schema": "${SERVER_SCHEMA}"`;
  return [warning('schema', advice, 'schema-version-deprecated')];
}

export function ruleIssues(server: PublishedServer): ValidationIssue[] {
  const { version, repository, packages = [], remotes = [], _meta } = server;
  return [
    ...versionIssues('version', version),
    ...storageIssues(version),
    ...(repository ? repositoryIssues(repository) : []),
    ...packages.flatMap((pack, index) => packageIssues(pack, `packages[${index}]`)),
    ...remotes.flatMap((remote, index) => remoteIssues(remote, `remotes[${index}]`)),
    ...metaIssues(_meta?.[PUBLISHER_META]),
  ];
}

function versionIssues(path: string, version: string): ValidationIssue[] {
  if (version === 'latest')
    return [error(path, "must not be 'latest', which always means the newest version", 'reserved-version-string')];
  return isRange(version) ? [error(path, 'must be one version, not a range', 'version-looks-like-range')] : [];
}

function isRange(version: string): boolean {
  const [numbers = ''] = version.trim().split('-', 1);
  const hasWildcard = /^(v?\d+|[xX*])(\.(\d+|[xX*])){0,2}$/.test(numbers) && /[xX*]/.test(numbers);
  return hasWildcard || /^\s*(\^|~|[<>]=?|=)\s*v?\d|\s-\s|\|\|/.test(version);
}

/** The version becomes part of an id, which limits its characters. */
function storageIssues(version: string): ValidationIssue[] {
  const fault = versionFault(version);
  return fault ? [error('version', fault, 'invalid-version')] : [];
}

function repositoryIssues({ url, source }: NonNullable<PublishedServer['repository']>): ValidationIssue[] {
  const isPublic = source === 'github' || source === 'gitlab';
  if (!isPublic)
    return [
      warning('repository.source', 'the public registry accepts only github and gitlab', 'invalid-repository-url'),
    ];
  const isThere = new RegExp(`^https?://(www\\.)?${source}\\.com/[\\w.-]+(/[\\w.-]+)+/?$`).test(url);
  return isThere
    ? []
    : [error('repository.url', `must be the address of a repository at ${source}.com`, 'invalid-repository-url')];
}

function packageIssues(pack: Package, path: string): ValidationIssue[] {
  const { registryType, version, fileSha256, transport, runtimeArguments = [], packageArguments = [] } = pack;
  const args = [...runtimeArguments, ...packageArguments];
  const names = [
    ...(pack.environmentVariables ?? []).map(({ name }) => name),
    ...args.flatMap((argument) => [argument.type === 'named' ? argument.name : (argument.valueHint ?? '')]),
  ];
  return [
    ...(version === undefined ? [] : versionIssues(`${path}.version`, version)),
    ...(registryType === 'mcpb' && fileSha256 === undefined
      ? [error(`${path}.fileSha256`, 'is missing, but packages of the type mcpb need it', 'mcpb-file-sha256-required')]
      : []),
    ...(registryType === 'oci' && version !== undefined
      ? [warning(`${path}.version`, 'belongs in the identifier, as its tag', 'oci-version')]
      : []),
    ...(transport.type === 'stdio' ? [] : variableIssues(transport.url, names, `${path}.transport.url`)),
    ...argumentIssues(runtimeArguments, `${path}.runtimeArguments`),
    ...argumentIssues(packageArguments, `${path}.packageArguments`),
  ];
}

function argumentIssues(args: NonNullable<Package['packageArguments']>, path: string): ValidationIssue[] {
  return args.flatMap((argument, index) => {
    if (argument.type !== 'named') return [];
    const { name } = argument;
    const repeats = (['value', 'default'] as const).filter((member) => argument[member]?.startsWith(name));
    return repeats.map((member) =>
      error(
        `${path}[${index}].${member}`,
        `must not begin with the name of the argument, ${name}`,
        `argument-${member}-starts-with-name`,
      ),
    );
  });
}

function remoteIssues({ url, variables = {} }: Remote, path: string): ValidationIssue[] {
  return [
    ...(LOOPBACK.test(url)
      ? [error(`${path}.url`, 'must not be an address that only one machine can reach', 'invalid-remote-url')]
      : []),
    ...(url.startsWith('http:')
      ? [warning(`${path}.url`, 'the public registry and VS Code accept only https', 'invalid-remote-url')]
      : []),
    ...variableIssues(url, Object.keys(variables), `${path}.url`),
  ];
}

function variableIssues(url: string, names: readonly string[], path: string): ValidationIssue[] {
  const known = new Set(names);
  const unknown = [...url.matchAll(/\{([^{}]+)\}/g)].flatMap(([, name = '']) => (known.has(name) ? [] : name));
  const isAddress = URL.canParse(url.replace(/:\{[^{}]+\}/g, ':80').replace(/\{[^{}]+\}/g, 'x'));
  return [
    ...unknown.map((name) => error(path, `{${name}} is not among the variables`, 'invalid-templated-url')),
    ...(isAddress ? [] : [error(path, 'is not an address', 'invalid-templated-url')]),
  ];
}

function metaIssues(provided: unknown): ValidationIssue[] {
  const size = provided === undefined ? 0 : Buffer.byteLength(JSON.stringify(provided));
  if (size <= LONGEST_META_BYTES) return [];
  const path = `_meta.${PUBLISHER_META}`;
  return [error(path, `must not have more than ${LONGEST_META_BYTES} bytes, but has ${size}`, 'meta-too-large')];
}

function error(
  path: string,
  message: string,
  reference: string,
  type: ValidationIssue['type'] = 'semantic',
): ValidationIssue {
  return { type, path, message, severity: 'error', reference };
}

function warning(path: string, message: string, reference: string): ValidationIssue {
  return { type: 'semantic', path, message, severity: 'warning', reference };
}
