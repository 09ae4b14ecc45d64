// Runs a hub as its image does: in a container, or in a folder that replaces one.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { readDockerfile } from './dockerfile.ts';
import { giveFolder, type ImageFolder, listing } from './image-folder.ts';

const execute = promisify(execFile);
const REPOSITORY = fileURLToPath(new URL('../', import.meta.url));
const IMAGE = 'catalog-hub-test';
export const TOKEN = 'container-test';
/** The registries of the test are on loopback. */
const SETTINGS = { API_TOKEN: TOKEN, ALLOW_PRIVATE_NETWORK: 'true', PORT: '0', LOG_LEVEL: 'warn' };

export interface RunningHub {
  address: string;
  /** The install folder as the hub sees it. */
  target: string;
  /** Runs a program next to the hub, as its user, and returns the output. */
  run(command: readonly string[]): Promise<string>;
  /** Changes outside the writable folders. */
  changes(): Promise<string[]>;
}

export async function hasEngine(): Promise<boolean> {
  return execute('docker', ['info']).then(
    () => true,
    () => false,
  );
}

/** `/data` is empty, like a freshly mounted folder. */
export async function runFolder(t: TestContext, folder: ImageFolder): Promise<RunningHub> {
  const { root, path, user } = folder;
  t.after(() => folder.remove());
  const image = readDockerfile(await readFile(`${REPOSITORY}Dockerfile`, 'utf8'));
  const temporary = await temporaryFolder();
  const writable = [...image.volumes, temporary].map(path);
  for (const each of writable) await giveFolder(each, user);
  const env = { ...folder.env, ...SETTINGS, TMPDIR: path(temporary) };
  const options = { cwd: path(image.workdir), env, ...user };
  const before = await listing(root, writable);
  const [program = '', ...args] = image.command;
  return {
    address: await listens(t, spawn(program, args, options)),
    target: path('/data/installed/everything'),
    run: async ([named = '', ...words]) => (await execute(named, words, options)).stdout,
    async changes() {
      const now = await listing(root, writable);
      return [...now.filter((line) => !before.includes(line)), ...before.filter((line) => !now.includes(line))];
    },
  };
}

/** The folder that compose.yaml mounts for temporary files. */
async function temporaryFolder(): Promise<string> {
  const { services } = parse(await readFile(`${REPOSITORY}compose.yaml`, 'utf8'));
  return services.hub.environment.TMPDIR;
}

/** Uses the limits of compose.yaml, and the host network because the test registries are on loopback. */
export async function runImage(t: TestContext): Promise<RunningHub> {
  await execute('docker', ['build', '--tag', IMAGE, REPOSITORY], { maxBuffer: 50_000_000 });
  const name = `${IMAGE}-${randomUUID()}`;
  const limits = [
    '--init',
    '--read-only',
    '--tmpfs',
    '/tmp',
    '--cap-drop',
    'ALL',
    '--security-opt',
    'no-new-privileges',
  ];
  const temporary = await temporaryFolder();
  const volumes = ['--volume', '/data', '--volume', temporary, '--env', `TMPDIR=${temporary}`];
  const settings = Object.entries(SETTINGS).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
  const run = ['run', '--rm', '--name', name, '--network', 'host', ...limits, ...volumes, ...settings, IMAGE];
  return {
    address: await listens(t, spawn('docker', run)),
    target: '/data/installed/everything',
    run: async (command) => (await execute('docker', ['exec', name, ...command])).stdout,
    // The engine itself keeps the root read-only.
    changes: async () => [],
  };
}

async function listens(t: TestContext, child: ChildProcess): Promise<string> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => (output += text));
  const ended = once(child, 'close');
  t.after(async () => {
    if (child.exitCode === null) child.kill('SIGTERM');
    await ended;
  });
  while (!/listens on \S+:(\d+)/.test(output)) {
    const isOver = await Promise.race([ended.then(() => true), new Promise((resolve) => setTimeout(resolve, 50))]);
    if (isOver === true) throw new Error(`The hub ended with ${child.exitCode}: ${output}`);
  }
  return `http://127.0.0.1:${/listens on \S+:(\d+)/.exec(output)?.[1]}`;
}
