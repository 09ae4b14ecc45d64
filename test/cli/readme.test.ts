// Runs the commands of the README, the tutorial and the API tour, and compares their output with the pages.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { atEnd } from '../support/at-end.ts';
import { tempDir } from '../support/databases/databases.ts';
import { type Running, serve } from './process.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MARK = '--- the next command ---';
const execute = promisify(execFile);

interface Step {
  command: string;
  expected: string;
}

const lacking = ['bash', 'curl', 'jq'].filter((program) => spawnSync(program, ['--version']).error);
const skip = lacking.length > 0 && !process.env.CI ? `*** no ${lacking.join(', ')} ***` : false;

for (const [page, commands] of Object.entries({ 'README.md': 3, 'docs/tutorial.md': 4, 'docs/http-api.md': 20 }))
  test(`${page}: each command prints what the page shows`, { skip, timeout: 600_000 }, async (t) => {
    const steps = readSteps(await readFile(join(ROOT, page), 'utf8'));
    assert.ok(steps.length >= commands, `${steps.length} commands were found`);
    const publishing = steps.findIndex(({ command }) => command.includes('http.server'));
    const places = { '/tmp/project': await tempDir(t), 'localhost:8000': await publishDemo(t) };

    const demo = await demoHub();
    const onDemo = publishing < 0 ? steps : steps.slice(0, publishing);
    await walk(onDemo, { ...places, '127.0.0.1:8765': hostOf(demo.address) }, demo.said());
    if (publishing < 0) return;

    const hub = await serve(t, { settings: { API_TOKEN: 'secret' } });
    const atHub = { ...places, '127.0.0.1:8765': hostOf(hub.address) };
    const mcp = steps.findIndex(({ command }) => command.includes('/mcp '));
    const synced = steps.slice(publishing, mcp);
    await walk(synced, atHub, hub.said());
    // The test reads faster than a person: the texts of the sync may not be embedded yet.
    await modelIsLoaded(hub.address);
    const variables = synced.filter(({ command }) => /^[A-Z]+=/.test(command));
    await walk([...variables, ...steps.slice(mcp)], atHub, hub.said());
  });

let started: Promise<Running> | undefined;
/** The pages only read the samples, so they share one hub with them. */
function demoHub(): Promise<Running> {
  started ??= serve(atEnd, { args: ['--demo'] }).then(async (demo) => {
    await modelIsLoaded(demo.address);
    return demo;
  });
  return started;
}

/** A line that begins with `$ ` is a command, continued after `|` and `\`. The lines below it are its output. */
function readSteps(page: string): Step[] {
  const run = page.replace(/<!-- not run by the tests: .*-->\n```console\n[\s\S]*?^```$/gm, '');
  return [...run.matchAll(/^```console\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => {
    const parts = block.split(/^\$ /m).slice(1);
    return parts.map((part) => {
      const [command = ''] = /^(?:.*[|\\]\n)*.*\n/.exec(part) ?? [];
      return { command: command.trimEnd(), expected: part.slice(command.length) };
    });
  });
}

async function walk(steps: readonly Step[], places: Record<string, string>, startLines: string[]): Promise<void> {
  // The test starts the servers itself, on free ports.
  const typed = steps.filter(({ command }) => !/npm start|http\.server/.test(command));
  const script = typed
    .map(({ command }) => {
      // The alias is defined in the checkout and must work in every folder.
      const elsewhere = command.startsWith('alias') ? 'cd /' : '';
      return `${inPlace(command, places)}\n${elsewhere}\necho; echo '${MARK}'`;
    })
    .join('\n');
  const { stdout } = await execute('bash', ['-c', `shopt -s expand_aliases\nexec 2>&1\n${script}`], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, NO_COLOR: '1' },
    timeout: 300_000,
  });
  const said = stdout.split(MARK);
  for (const [index, { command, expected }] of typed.entries())
    compare(said[index] ?? '', inPlace(expected, places), command);
  for (const { command, expected } of steps.filter(({ command }) => /npm start/.test(command)))
    compare(startLines[0] ?? '', inPlace(expected, places).replace(/…\/data\S*/, '…'), command);
}

function inPlace(text: string, places: Record<string, string>): string {
  return Object.entries(places).reduce((shown, [from, to]) => shown.replaceAll(from, to), text);
}

/** Ignores line breaks, times and request ids; `…` stands for any text. */
function compare(said: string, expected: string, command: string): void {
  const plain = (text: string) =>
    text
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'MARK')
      .replace(/\(\d+\.\d s\)/g, '(SECONDS)')
      .replace(/\s+/g, '');
  const pattern = plain(expected)
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
  assert.match(plain(said), new RegExp(`^${pattern}$`), `$ ${command}\n${said}`);
}

/** Serves the sample catalog like `python3 -m http.server` does. */
async function publishDemo(t: TestContext): Promise<string> {
  const server = createServer(async (request, response) => {
    const file = join(ROOT, 'demo', decodeURIComponent(request.url ?? '/'));
    try {
      const { mtime } = await stat(file);
      response.setHeader('last-modified', mtime.toUTCString());
      if (request.headers['if-modified-since'] === mtime.toUTCString()) response.writeHead(304).end();
      else response.end(await readFile(file));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `localhost:${(server.address() as AddressInfo).port}`;
}

function hostOf(address: string): string {
  return new URL(address).host;
}

async function modelIsLoaded(address: string): Promise<void> {
  for (let tries = 1_000; tries > 0; tries -= 1) {
    const answer = await fetch(`${address}/catalog/search?q=notes+of+a+meeting&limit=1&mode=semantic`);
    const { items, degraded } = (await answer.json()) as { items?: { score_semantic: number }[]; degraded?: string };
    // A hub that has just started on a slow machine may answer 503.
    if (!degraded && (items?.[0]?.score_semantic ?? 0) > 0) return;
    await sleep(100);
  }
  assert.fail('The model was not loaded in time');
}
