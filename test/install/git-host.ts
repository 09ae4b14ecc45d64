// Real repositories on a real host on loopback: git's own http-backend behind an HTTP server.
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';

export interface GitHost {
  /** The folder with the repositories. */
  folder: string;
  url(path: string): string;
  /** Creates a repository with one commit, and returns the commit. */
  create(name: string, files?: Record<string, string>): Promise<string>;
  /** Adds files, commits them to `main`, and returns the commit. */
  commit(name: string, files: Record<string, string>): Promise<string>;
  git(name: string, ...args: string[]): Promise<string>;
  /** Runs git with `input` on its stdin. */
  gitWith(name: string, input: Buffer, ...args: string[]): Promise<string>;
  /** The requests, in order. */
  requests: string[];
  /** Answers instead of git when it returns true. */
  intercept?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

const run = promisify(execFile);
const ENV = {
  PATH: process.env.PATH,
  HOME: tmpdir(),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.org',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
};

export async function startGitHost(t: TestContext): Promise<GitHost> {
  const folder = await mkdtemp(join(tmpdir(), 'hub-git-host-'));
  const server = createServer((request, response) => {
    host.requests.push(`${request.method} ${request.url}`);
    if (host.intercept?.(request, response)) return;
    runBackend(folder, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true, force: true });
  });
  const { port } = server.address() as AddressInfo;

  const gitWith = async (name: string, input: Buffer, ...args: string[]) => {
    const running = run('git', args, { cwd: join(folder, name), env: ENV });
    if (input.length > 0) running.child.stdin?.end(input);
    return (await running).stdout.trim();
  };
  const git = (name: string, ...args: string[]) => gitWith(name, Buffer.alloc(0), ...args);
  const commit = async (name: string, files: Record<string, string>) => {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name, path)), { recursive: true });
      await writeFile(join(folder, name, path), content);
    }
    await git(name, 'add', '--all', '--force', '.');
    await git(name, 'commit', '--quiet', '--allow-empty', '--message', 'change');
    return git(name, 'rev-parse', 'HEAD');
  };
  const host: GitHost = {
    folder,
    url: (path) => `http://127.0.0.1:${port}/${path}`,
    async create(name, files = { 'README.md': `# ${name}\n` }) {
      await mkdir(join(folder, name), { recursive: true });
      await git(name, 'init', '--quiet', '--initial-branch=main', '.');
      return commit(name, files);
    },
    commit,
    git,
    gitWith,
    requests: [],
  };
  return host;
}

function runBackend(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
  const backend = spawn('git', ['http-backend'], {
    env: {
      ...ENV,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: withGitFolder(pathname),
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      REMOTE_ADDR: '127.0.0.1',
    },
  });
  request.pipe(backend.stdin).on('error', () => {});
  let head = Buffer.alloc(0);
  let isBegun = false;
  backend.stdout.on('data', (chunk: Buffer) => {
    if (isBegun) return void response.write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    isBegun = true;
    const fields = head
      .subarray(0, end)
      .toString()
      .split('\r\n')
      .map((line) => line.split(/: (.*)/s, 2) as [string, string]);
    const status = Number(fields.find(([name]) => name === 'Status')?.[1].slice(0, 3) ?? 200);
    response.writeHead(status, Object.fromEntries(fields.filter(([name]) => name !== 'Status')));
    response.write(head.subarray(end + 4));
  });
  backend.on('close', () => (isBegun ? response.end() : response.writeHead(500).end()));
}

/** Maps `/thing.git/info/refs` to `/thing/.git/info/refs` on disk. */
function withGitFolder(path: string): string {
  return path.replace(/^\/(.+?)(?:\.git)?\/(info\/refs|git-upload-pack|HEAD|objects\/.*)$/, '/$1/.git/$2');
}
