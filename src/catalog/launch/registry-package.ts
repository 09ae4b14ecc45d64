// Converts a registry package to the command that runs it, or explains why that is not possible.
import { asObject, asObjects, asText, type JsonObject } from '../../lib/json.ts';
import { fillGaps, type GappedText } from '../../lib/secrets/secret-address.ts';
import type { Launch, Variable } from './launch-form.ts';
import { isSwitchOf, packageName, plainText, runPackage, splitWords } from './package-runner.ts';
import { commandWords, environmentOf, fillTemplate } from './registry-input.ts';

const NOT_A_PROGRAM =
  /^(npx|npm|node|nodejs|bun|bunx|uvx|uv|pip|pipx|python\d?(\.\d+)?|docker|podman|dnx|dotnet|binary)$/;
const OFFICIAL = /^https?:\/\/(registry\.npmjs\.org|pypi\.org|docker\.io)(\/|$)/;
const LOOPBACK = /^https?:\/\/(localhost|127\.|0\.0\.0\.0|\[|host\.docker\.internal)/i;

/** Converts an artifact to a registry package. */
export function packageOfArtifact({ kind, spec }: JsonObject): JsonObject | undefined {
  const { package: name, image, version, tag, digest, registry, index_url, registry_url } = asObject(spec);
  const registryType = [asText(kind), asText(registry)]
    .map((each) => each?.toLowerCase())
    .find((each) => each && ['npm', 'pypi', 'oci'].includes(each));
  const identifier = asText(image) ?? asText(name);
  if (!registryType || !identifier) return undefined;
  const isImage = registryType === 'oci';
  const fixed = isImage && asText(digest) ? `${identifier}@${asText(digest)}` : identifier;
  return {
    registryType,
    identifier: fixed,
    version: isImage ? tag : version,
    registryBaseUrl: index_url ?? registry_url,
  };
}

const RUNNERS = { npm: 'npx', pypi: 'uvx', oci: 'docker' } as const;
type Kind = keyof typeof RUNNERS;

function isRunnable(registry: string): registry is Kind {
  return Object.hasOwn(RUNNERS, registry);
}

/** `registered` are the variables set by the registration. */
export function launchPackage(pack: JsonObject, registered: JsonObject = {}): Launch {
  const identifier = asText(pack.identifier);
  const registry = asText(pack.registryType)?.toLowerCase() ?? '';
  if (!identifier) return { kind: 'none', reason: 'Its package has no name.' };
  const served = servedAt(pack);
  if (served !== undefined) return { kind: 'none', reason: servesHttp(identifier, served) };
  const env = environmentOf(asObjects(pack.environmentVariables), registered);
  if (registry === 'nuget') return dotnetTool(pack, identifier, env);
  if (!isRunnable(registry)) return { kind: 'none', reason: cannotRun(registry) };
  const runner = RUNNERS[registry];
  const given = commandWords(asObjects(pack.runtimeArguments), isSwitchOf(runner));
  const split = splitWords(given, runner, { isWritten: false });
  const own = packageWords(pack, registry);
  const from = split.from ?? own.from;
  const hint = asText(pack.runtimeHint)?.split(/\s+/) ?? [];
  const { program, args } = programOf({ hint, from, rest: split.rest, own: own.rest }, identifier, registry);
  return runPackage({
    runner,
    own: [...registryWords(registry, asText(pack.registryBaseUrl)), ...split.own],
    reference: referenceOf(registry, { identifier, version: asText(pack.version), from: plainText(from) }),
    program,
    args,
    env,
  });
}

/** Some publishers put uvx's `--from pkg` into the arguments of the package. */
function packageWords(pack: JsonObject, kind: Kind): { from?: GappedText | undefined; rest: GappedText[] } {
  const words = commandWords(asObjects(pack.packageArguments));
  const isFrom = kind === 'pypi' && plainText(words[0]) === '--from';
  return isFrom ? { from: words[1], rest: words.slice(2) } : { rest: words };
}

interface Given {
  hint: readonly string[];
  from: GappedText | undefined;
  /** Words for the runner that are not its options. */
  rest: readonly GappedText[];
  /** Arguments of the package. */
  own: readonly GappedText[];
}

/** Determines the package's program, and which of the runner's words are really the program's. */
function programOf(
  { hint: [tool = '', ...line], from, rest, own }: Given,
  identifier: string,
  kind: Kind,
): { program?: string; args: GappedText[] } {
  const name = packageName(identifier, kind);
  const module = [...line.map((word): GappedText => [word]), ...rest];
  while (/^(run|python\d?)$/.test(plainText(module[0]))) module.shift();
  const isModule = kind === 'pypi' && plainText(module[0]) === '-m' && /^(uvx?|python.*)?$/.test(tool);
  if (isModule) return { program: 'python', args: [...module, ...own] };
  const args = [...rest.filter((word) => !isRepeated(plainText(word), name, kind)), ...own];
  if (kind === 'oci') return { args };
  const first = plainText(args[0]);
  const isNamed = from ? /^[^-]/.test(first) : isProgramOf(name, first);
  if (isNamed) return { program: first, args: args.slice(1) };
  if (/^[a-z][\w.-]*$/i.test(tool) && !NOT_A_PROGRAM.test(tool)) return { program: tool, args };
  return { args };
}

/** `thing-mcp` is a program of the package `thing`; `mcp` alone is a subcommand. */
function isProgramOf(name: string, word: string): boolean {
  const last = name.split('/').at(-1) ?? name;
  const isRelated = word.startsWith(`${last}-`) || (word.includes('-') && last.startsWith(`${word}-`));
  return /^[\w.-]+$/.test(word) && (isRelated || /\w[-_]mcp([-_]server)?$|\w[-_]server$/.test(word));
}

/** Words that repeat the runner, its command or the package, and files of a checkout. */
function isRepeated(word: string, name: string, kind: Kind): boolean {
  const isReference = word === name || ['@', '==', ':'].some((sign) => word.startsWith(`${name}${sign}`));
  const isCommand = kind === 'oci' ? /^(docker|run)$/.test(word) : /^(npx|uvx)$/.test(word);
  return isReference || isCommand || /^[\w./-]+\.(js|mjs|cjs|ts|py)$/.test(word);
}

function referenceOf(
  kind: Kind,
  { identifier, version, from }: { identifier: string; version: string | undefined; from: string },
): string {
  if (kind === 'pypi') return pythonReference(identifier, version, from);
  if (kind === 'oci') {
    const image = identifier.replace(/^(docker|oci):\/\//, '');
    const hasTag = /[:@]/.test(image.slice(image.lastIndexOf('/') + 1));
    return version && !hasTag ? `${image}:${version}` : image;
  }
  return version && version !== '*' ? `${identifier}@${version}` : identifier;
}

/** Includes the extras that `--from` may name: `pkg[mcp]==1.0`. */
function pythonReference(identifier: string, version: string | undefined, from: string): string {
  const [, extras = ''] = from.startsWith(identifier) ? (/^[\w.-]+(\[[^\]]*\])/.exec(from) ?? []) : [];
  const wanted = version?.replace(/^(==|v(?=\d)|latest$|\*$)/, '') ?? '';
  const separator = /^\d/.test(wanted) ? '==' : '';
  return `${identifier}${identifier.includes('[') ? '' : extras}${separator}${wanted}`;
}

function registryWords(kind: Kind, url: string | undefined): GappedText[] {
  if (!url || OFFICIAL.test(url)) return [];
  if (kind === 'pypi') return [['--default-index'], [url]];
  return kind === 'npm' ? [[`--registry=${url}`]] : [];
}

/** .NET's own runner; an install has no replacement for it. */
function dotnetTool(pack: JsonObject, identifier: string, env: Variable[]): Launch {
  const version = asText(pack.version);
  const own = commandWords(asObjects(pack.packageArguments));
  const reference: GappedText = [version ? `${identifier}@${version}` : identifier];
  return {
    kind: 'command',
    command: 'dnx',
    args: [reference, ['--yes'], ...(own.length > 0 ? [['--'], ...own] : [])],
    env,
  };
}

/** The address of a package that does not use stdio. */
function servedAt(pack: JsonObject): string | undefined {
  const { type, url, variables } = asObject(pack.transport);
  if (!/http|sse/i.test(asText(type) ?? '')) return undefined;
  const address = fillTemplate(asText(url) ?? '', asObject(variables ?? pack.variables), true) ?? [];
  return fillGaps(address, ({ name }) => `{${name}}`);
}

/** The address of a package that its publisher hosts; undefined if it runs on the user's machine. */
export function hostedAddress(pack: JsonObject): string | undefined {
  const url = servedAt(pack);
  return url && /^https?:\/\//.test(url) && !LOOPBACK.test(url) && !/^https?:\/\/[^/]*[{}]/.test(url) ? url : undefined;
}

export const IN_BUNDLE =
  'The command that starts it is in its bundle: install it for your client to create the configuration.';

function servesHttp(identifier: string, url: string): string {
  const where = url ? `at ${url}` : 'at an address of its own';
  return `Its package '${identifier}' serves HTTP ${where}, but does not start automatically: start it, then connect to that address.`;
}

function cannotRun(registry: string): string {
  if (registry === 'mcpb') return IN_BUNDLE;
  return `Its package is in the registry '${registry.slice(0, 40)}', and the hub knows no program that downloads and runs it.`;
}
