// docker, podman and skopeo: which of them this machine has, how they are called, and with which logins.
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  IMAGE_DIGEST,
  type ImageReference,
  imageName,
  isLoopback,
  pullName,
} from '../../../catalog/launch/image-reference.ts';
import { asObject, parseJson } from '../../../lib/json.ts';
import { InstallError } from '../../errors.ts';
import { textDigest } from '../../target/tree.ts';
import { mayUseCredentials } from '../address.ts';
import type { ArtifactContext } from '../artifact.ts';
import {
  type Causes,
  findCause,
  lastLine,
  NEEDS_LOGIN,
  REFUSED_BY_PROXY,
  runToEnd,
  tryProgram,
  UNREACHABLE,
  withLoginFolder,
} from '../program.ts';

type Engine = 'docker' | 'podman';

const MAX_MANIFEST_BYTES = 4_000_000;
/** These fail for a client without a running engine. */
const CHECKS = [
  ['docker', ['version', '--format', '{{.Server.Version}}']],
  ['podman', ['info', '--format', '{{.Version.Version}}']],
] as const;

export async function findEngine(context: ArtifactContext): Promise<Engine | undefined> {
  for (const [engine, args] of CHECKS) if ((await tryProgram(engine, args, context)) !== undefined) return engine;
  return undefined;
}

/** Explains why no engine was found, and the consequences, in sentences. */
export async function lackOfEngine(context: ArtifactContext): Promise<string> {
  const versions = CHECKS.map(async ([engine]) => (await tryProgram(engine, ['--version'], context)) && engine);
  const client = (await Promise.all(versions)).find(Boolean);
  const why = client ? `${client} is installed, but no engine responds` : 'Neither docker nor podman is installed';
  return `${why}. The image is not pulled; its digest is recorded.`;
}

/** Pulls an image by its digest or tag; returns the engine's digest for it. @throws InstallError */
export async function pullImage(engine: Engine, image: ImageReference, context: ArtifactContext): Promise<string> {
  const run = imageProgram(engine, image, context);
  await run(['pull', '--quiet', '--', pullName(image)]);
  // An engine verifies the digest.
  if (image.digest) return image.digest;
  const format = '{{range .RepoDigests}}{{println .}}{{end}}';
  const listed = await run(['image', 'inspect', '--format', format, '--', pullName(image)]);
  const digests = listed.split('\n').map((line) => line.trim().split('@') as [string, string | undefined]);
  // The same image may also have been pulled from other repositories.
  const digest = digests.find(([name]) => isNameOf(name, image))?.[1];
  if (digest && IMAGE_DIGEST.test(digest)) return digest;
  throw new InstallError(`${engine} does not report the digest of ${pullName(image)}.`);
}

/** docker omits the names of its own registry. */
function isNameOf(listed: string, image: ImageReference): boolean {
  const short = image.registry === 'docker.io' ? [image.repository, image.repository.replace(/^library\//, '')] : [];
  return [imageName(image), ...short].includes(listed);
}

/** Looks up the digest of an image; returns undefined without skopeo. @throws InstallError */
export async function inspectWithSkopeo(image: ImageReference, context: ArtifactContext): Promise<string | undefined> {
  if ((await tryProgram('skopeo', ['--version'], context)) === undefined) return undefined;
  const insecure = isLoopback(image.host) && context.allowPrivateNetwork ? ['--tls-verify=false'] : [];
  const args = ['inspect', '--raw', ...insecure, '--', `docker://${pullName(image)}`];
  const run = imageProgram('skopeo', image, context);
  return textDigest(await run(args));
}

/** Runs one of the programs with the logins for an image. */
function imageProgram(program: string, image: ImageReference, context: ArtifactContext) {
  const { isOwnMachine } = context.trust;
  const verb = program === 'skopeo' ? 'read the digest of' : 'pull';
  const common = {
    ...{ program, cwd: context.stagingDir, inherit: isOwnMachine ? ['REGISTRY_AUTH_FILE'] : [] },
    // docker delegates pulls to its engine, which the hub's proxy cannot guard.
    isGuarded: program !== 'docker' && !isOwnMachine,
    mostOutputBytes: MAX_MANIFEST_BYTES,
    whenMissing: `${program} is no longer installed; try again.`,
    why: (output: string) => `${program} could not ${verb} the image: ${pullCause(output)}.`,
  };
  return (args: string[]) =>
    withLoginFolder(async (folder) => {
      const env = isOwnMachine ? {} : await loginsFor(image, folder, context);
      return runToEnd({ ...common, args, env }, context);
    });
}

/** docker stores the login of its own registry under this key. */
const DOCKER_HUB_KEY = 'https://index.docker.io/v1/';

/** Writes the logins for an image into a folder; returns variables that point docker, podman and skopeo to it. */
async function loginsFor(image: ImageReference, folder: string, { trust, home }: ArtifactContext) {
  const operators = join(home, '.docker');
  const text = await readFile(join(operators, 'config.json'), 'utf8').catch(() => '{}');
  const { auths, credHelpers, credsStore, currentContext } = asObject(parseJson(text));
  const key = image.registry === 'docker.io' ? DOCKER_HUB_KEY : image.registry;
  const isTrusted = mayUseCredentials(trust, image.registry, image.repository);
  const [login, helper] = [asObject(auths)[key], asObject(credHelpers)[key] ?? credsStore];
  // Contains the address of the engine, and at most one login.
  const config = {
    ...(isTrusted && login ? { auths: { [key]: login } } : {}),
    ...(isTrusted && helper ? { credHelpers: { [key]: helper } } : {}),
    currentContext,
  };
  const file = join(folder, 'config.json');
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  await symlink(join(operators, 'contexts'), join(folder, 'contexts'));
  return { DOCKER_CONFIG: folder, REGISTRY_AUTH_FILE: file };
}

const CAUSES: Causes = [
  [REFUSED_BY_PROXY, 'its registry leads to an address that the hub may not connect to'],
  [/policy\.json/, 'its policy /etc/containers/policy.json is missing: install the package containers-common'],
  [/toomanyrequests|too many requests|rate limit/i, 'the registry limits requests; try again later'],
  [/unauthorized|authentication required|\bdenied\b/i, `it does not exist, or ${NEEDS_LOGIN}`],
  [/manifest unknown|name unknown|repository .*not found/i, 'the registry has no such image, tag or digest'],
  [/no (?:matching manifest for|image found in )/i, 'there is no image for the platform of this machine'],
  [/gave HTTP response to HTTPS client/i, 'the registry supports only http'],
  [/x509|certificate/i, 'the certificate of the registry is not valid for it'],
  [/cannot connect to the docker daemon|is the docker daemon running/i, 'its engine does not respond: restart it'],
  [UNREACHABLE, 'the registry could not be reached; check its host name, or try again later'],
];

export function pullCause(output: string): string {
  const [, message] = /\bmsg="((?:[^"\\]|\\.)*)"/.exec(output) ?? [];
  return findCause(output, CAUSES) ?? lastLine(message?.replaceAll('\\"', '"') ?? output);
}
