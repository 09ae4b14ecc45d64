// Determines how to connect to or start the server of a manifest. Uses no Node module, so that the page can import it.

import { asObject, asObjects, asText, type JsonObject } from '../../lib/json.ts';
import { fillGaps, type GappedText, gapSecrets } from '../../lib/secrets/secret-address.ts';
import { kindNameOf } from '../artifact-kind.ts';
import { describeServer, serverOf } from '../server.ts';
import { type Launch, type Named, variableFor } from './launch-form.ts';
import { artifactsOf } from './package-artifact.ts';
import { commandWords, environmentOf, fillTemplate, headersOf, wordsWithSecrets } from './registry-input.ts';
import { hostedAddress, IN_BUNDLE, launchPackage, packageOfArtifact } from './registry-package.ts';
import { launchCommand } from './written-command.ts';

export type { Launch, Variable } from './launch-form.ts';

export interface LaunchSource {
  document: JsonObject;
  mcpRegistration: JsonObject | null;
  artifacts: readonly JsonObject[];
  name: string;
  slug: string;
}

/** For STDIO, catalogs often list the address of a web page, not the server's. A2A agents are not MCP servers. */
const NOT_REMOTE = /^(stdio|a2a)$/i;
/** An address without placeholders. */
const PLAIN_ADDRESS = /^https?:\/\/[^<>{}$\s]+$/;
const NOTHING_NAMED = 'Its manifest has no address to connect to, and no command or package to start.';

/**
 * Uses the registration, then the manifest's packages, remotes and artifacts. With `artifact`, one of several alternatives
 * that an install chose, returns the command that runs that artifact.
 */
export function launchOf(source: LaunchSource, { artifact }: { artifact?: JsonObject } = {}): Launch {
  const launch = artifact ? artifactLaunch(artifact, source) : firstOf(readings(source));
  return launch.kind === 'none' ? launch : withOwnNames(launch, source);
}

export type LaunchKind = Exclude<Launch, { kind: 'remote' }> | { kind: 'remote' };

/** Like `launchOf`, but only what shows whether a command starts, and which package: removing secrets is slow. */
export function launchKindOf({ document, mcpRegistration, artifacts }: Omit<LaunchSource, keyof Named>): LaunchKind {
  const { url, transport } = describeServer(mcpRegistration);
  if (!NOT_REMOTE.test(transport) && PLAIN_ADDRESS.test(url) && URL.canParse(url)) return { kind: 'remote' };
  const { env: _, ...server } = serverOf(mcpRegistration);
  const packages = asObjects(document.packages).map(({ environmentVariables: _, ...pack }) => pack);
  const source = {
    document: { ...document, packages },
    mcpRegistration: { server: { ...server, exec: { cmd: asObject(server.exec).cmd } } },
    artifacts,
  };
  return firstOf(readings(source, wordsWithSecrets));
}

/** Lazy, because most manifests need only the first. */
function* readings(source: Omit<LaunchSource, keyof Named>, wordsOf = commandWords): Generator<Launch | undefined> {
  const { document, mcpRegistration, artifacts } = source;
  const server = serverOf(mcpRegistration);
  const packages = asObjects(document.packages);
  yield registeredRemote(source);
  yield registeredCommand(server, packages, wordsOf);
  for (const pack of packages) yield packageLaunch(pack, server);
  for (const remote of asObjects(document.remotes)) yield launchRemote(remote);
  // Artifacts that were derived from packages say less than the packages do.
  if (asObjects(document.artifacts).length === 0) return;
  for (const artifact of artifacts) yield artifactPackage(artifact, server);
}

/** The first usable launch; otherwise the first reason why there is none. */
function firstOf(launches: Iterable<Launch | undefined>): Launch {
  let reason: string | undefined;
  for (const launch of launches) {
    if (launch && launch.kind !== 'none') return launch;
    reason ??= launch?.reason;
  }
  return { kind: 'none', reason: reason ?? NOTHING_NAMED };
}

function registeredRemote({
  document,
  mcpRegistration,
}: Pick<LaunchSource, 'document' | 'mcpRegistration'>): Launch | undefined {
  const { url, transport } = describeServer(mcpRegistration);
  if (!url || NOT_REMOTE.test(transport)) return undefined;
  const server = serverOf(mcpRegistration);
  const listed = asObjects(document.remotes).find((each) => each.url === url);
  const type = asText(server.transport) ?? asText(listed?.type) ?? transport;
  return launchRemote({ ...listed, type, url }, asObject(server.headers));
}

/** A remote as registries list it; `headers` are set by the registration itself, often for authentication. */
function launchRemote(remote: JsonObject, headers: JsonObject = {}): Launch | undefined {
  const url = filledAddress(remote);
  if (!url) return undefined;
  const listed = [
    ...asObjects(remote.headers),
    ...Object.entries(headers).map(([name, value]) => ({ name, value, isRequired: true, isSecret: true })),
  ];
  const named = asText(remote.type) ?? asText(remote.transport) ?? '';
  return { kind: 'remote', transport: spokenTransport(url, named), url, headers: headersOf(listed) };
}

/** Replaces `{tenant}` with its value or a gap, and secrets with gaps. Undefined for anything but a web address. */
function filledAddress(remote: JsonObject): GappedText | undefined {
  const text = asText(remote.url);
  if (!text) return undefined;
  const described = asObject(remote.variables);
  const names = [...text.matchAll(/\{([\w.-]+)\}/g)].map(([, name = '']) => name);
  const variables = Object.fromEntries(names.map((name) => [name, asObject(described[name])]));
  const parts = (fillTemplate(text, variables, true) ?? []).flatMap((part) =>
    typeof part === 'string' ? gapSecrets(part) : [part],
  );
  return isWebAddress(fillGaps(parts, () => 'x')) ? parts : undefined;
}

function isWebAddress(url: string): boolean {
  return URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
}

/** Addresses that end in /mcp speak streamable HTTP, whatever the catalog claims. */
function spokenTransport(url: GappedText, named: string): 'http' | 'sse' {
  const { pathname } = new URL(fillGaps(url, () => 'x'));
  return /sse/i.test(named) && !/\/mcp\/?$/.test(pathname) ? 'sse' : 'http';
}

function registeredCommand(
  server: JsonObject,
  packages: readonly JsonObject[],
  wordsOf: typeof commandWords,
): Launch | undefined {
  const written = writtenCommand(server);
  if (written.length === 0) return undefined;
  // Catalogs put the package name last and omit its arguments: the package entry is more complete.
  const pack = packages.find((each) => isMadeFrom(written, each));
  if (pack) return packageLaunch(pack, server);
  return launchCommand(wordsOf(written), environmentOf([], registeredEnvironment(server)));
}

/** Whether a registration has a command to start. */
export function hasCommand(mcpRegistration: JsonObject | null): boolean {
  return writtenCommand(serverOf(mcpRegistration)).length > 0;
}

/** Either `exec.cmd`, or `command` and `args` as in client configurations. */
function writtenCommand({ exec, command, args }: JsonObject): unknown[] {
  const { cmd } = asObject(exec);
  if (Array.isArray(cmd) && cmd.length > 0) return cmd;
  return asText(command) ? [command, ...(Array.isArray(args) ? args : [])] : [];
}

const NAMES_REGISTRY = /^--(default-index|index|index-url|extra-index-url|registry)(=|$)/;

function isMadeFrom(written: readonly unknown[], pack: JsonObject): boolean {
  const identifier = asText(pack.identifier);
  const last = written.at(-1);
  if (!identifier || typeof last !== 'string' || !last.startsWith(identifier)) return false;
  // A package from a private registry must not be looked up in the public one.
  if (written.some((word) => typeof word === 'string' && NAMES_REGISTRY.test(word))) return false;
  return /^($|@|==|:)/.test(last.slice(identifier.length));
}

function registeredEnvironment(server: JsonObject): JsonObject {
  return { ...asObject(server.env), ...asObject(asObject(server.exec).env) };
}

/** Returns the remote address if the publisher also hosts the server. */
function packageLaunch(pack: JsonObject, server: JsonObject): Launch {
  const hosted = hostedAddress(pack);
  const remote = hosted && launchRemote({ ...asObject(pack.transport), url: hosted });
  return remote || launchPackage(pack, registeredEnvironment(server));
}

function artifactLaunch(artifact: JsonObject, source: LaunchSource): Launch {
  const server = serverOf(source.mcpRegistration);
  const packages = asObjects(source.document.packages);
  const listed = packages.find((each) => isSamePackage(each, artifact));
  if (!listed) return artifactPackage(artifact, server) ?? { kind: 'none', reason: NOTHING_NAMED };
  // A registration has the variables of the first package, which may not apply to the others.
  const registered = listed === packages[0] ? registeredEnvironment(server) : {};
  return launchPackage({ ...listed, transport: { type: 'stdio' } }, registered);
}

function artifactPackage(artifact: JsonObject, server: JsonObject): Launch | undefined {
  if (kindNameOf(asText(artifact.kind) ?? '', asObject(artifact.spec)) === 'mcpb')
    return { kind: 'none', reason: IN_BUNDLE };
  const pack = packageOfArtifact(artifact);
  return pack && launchPackage(pack, registeredEnvironment(server));
}

function isSamePackage(pack: JsonObject, artifact: JsonObject): boolean {
  const identifier = asText(pack.identifier);
  return identifier !== undefined && namesOf(artifact).includes(identifier);
}

function namesOf({ spec }: JsonObject): unknown[] {
  const { package: name, image, url } = asObject(spec);
  return [name, image, url];
}

/** Replaces the command of an installed package: `path` starts its program, or the engine that runs `image`. */
export function startInstalled(launch: Extract<Launch, { kind: 'command' }>, path: string, image?: string): Launch {
  const { args = [] } = launch.package ?? {};
  const started = { ...launch, command: path, isInTarget: true };
  if (image === undefined) return { ...started, args };
  // The image is the last word before its own arguments.
  const options = launch.args.slice(0, launch.args.length - args.length - 1);
  return { ...started, args: [...options, [image], ...args] };
}

/** The indexes of artifacts that are alternatives: a registry's packages of one server. Empty when all are needed. */
export function alternativesOf(document: JsonObject, artifacts = artifactsOf(document)): number[] {
  const identifiers = new Set<unknown>(asObjects(document.packages).map(({ identifier }) => asText(identifier)));
  const indexes = artifacts.flatMap((artifact, index) =>
    namesOf(artifact).some((name) => name !== undefined && identifiers.has(name)) ? [index] : [],
  );
  return indexes.length > 1 ? indexes : [];
}

/** Values that are missing come from variables that contain the name of the server; variables of a command keep theirs. */
function withOwnNames(launch: Exclude<Launch, { kind: 'none' }>, source: LaunchSource): Launch {
  const renamed = (text: GappedText): GappedText =>
    text.map((part) => (typeof part === 'string' ? part : { name: variableFor(part.name, source) }));
  if (launch.kind === 'remote') {
    const headers = launch.headers.map((each) => ({ ...each, from: variableFor(each.name, source) }));
    return { ...launch, url: renamed(launch.url), headers };
  }
  const { args, package: launched } = launch;
  return {
    ...launch,
    args: args.map(renamed),
    ...(launched ? { package: { ...launched, args: launched.args.map(renamed) } } : {}),
  };
}
