// The adapters of an install in the real frameworks: they import, list the tools of a real server, and call one.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { Launch } from '../src/catalog/launch/launch.ts';
import { planAdapters } from '../src/install/adapters/plan-adapters.ts';
import { writeAdapters } from '../src/install/adapters/write-adapters.ts';
import type { JsonObject } from '../src/lib/json.ts';
import { aSubject } from '../test/install/subjects.ts';
import { tempDir } from '../test/support/databases/databases.ts';
import { startMcpServer } from '../test-gateway/mcp-server.ts';
import { type Framework, installFrameworks, pythonOf } from './environments.ts';

const KEYS = { langgraph: 'node', crewai: 'tool', autogen: 'tool', watsonx_orchestrate: 'skill' };
const NODE = ['langgraph', 'crewai', 'autogen'] as const;
const ANSWERS_WITHIN_MS = 120_000;
const HERE = import.meta.dirname;

const missing = await installFrameworks();
for (const reason of missing.values())
  process.stderr.write(`\n${'*'.repeat(80)}\n*** SKIPPED: ${reason}\n${'*'.repeat(80)}\n\n`);

const remote = (transport: 'http' | 'sse', url: string): Launch => ({
  kind: 'remote',
  transport,
  url: [url],
  headers: [],
});

/** Writes the adapter of a framework into a target, as an install does. */
async function written(framework: Framework, target: string, launch: Launch, fields: JsonObject = {}): Promise<string> {
  const subject = aSubject({
    name: 'org.example/echo',
    adapters: [{ framework, template_key: KEYS[framework] }],
    ...fields,
  });
  const nothing = { known: undefined, others: [] };
  const job = { subject, targetDir: target, request: { frozen: false }, ...nothing };
  const planned = await planAdapters({ ...job, unreachable: undefined, clients: [] });
  const { errors, locked } = await writeAdapters({ ...job, launch, planned });
  assert.deepEqual(errors, []);
  return join(target, locked[0]?.path ?? '');
}

/** The last output of the framework's driver, run outside the target. */
async function answer(framework: Framework, words: string[], folder: string): Promise<unknown> {
  const driver = join(HERE, 'drivers', `run_${framework}.py`);
  const { PATH, HOME } = process.env;
  const quiet = { CREWAI_DISABLE_TELEMETRY: 'true', OTEL_SDK_DISABLED: 'true' };
  const { stdout } = await promisify(execFile)(pythonOf(framework), [driver, ...words], {
    cwd: folder,
    env: { PATH, HOME, ECHO_KEY: 'a key', ECHO_OTHER: 'a secret', ...quiet },
    timeout: ANSWERS_WITHIN_MS,
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

for (const framework of NODE) {
  describe(framework, { skip: missing.get(framework) ?? false }, () => {
    for (const transport of ['http', 'sse'] as const) {
      test(`${framework}: calls a tool of a server over ${transport}`, async (t) => {
        const server = await startMcpServer(t);
        const target = await tempDir(t);
        const file = await written(framework, target, remote(transport, transport === 'sse' ? server.sse : server.mcp));
        const found = (await answer(framework, [file, 'echo'], await tempDir(t))) as JsonObject;
        assert.deepEqual(found.tools, ['echo_text']);
        assert.match(String(found.answer), /hello/);
      });
    }

    test(`${framework}: starts an installed program with only the variables that it needs`, async (t) => {
      const target = await tempDir(t);
      const program = join(target, '.hub/bin/echo');
      await mkdir(join(target, '.hub/bin'), { recursive: true });
      await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${join(HERE, 'stdio-server.ts')}"\n`);
      await chmod(program, 0o755);
      const env = [{ name: 'ECHO_KEY', from: 'ECHO_KEY', value: undefined, isRequired: true }];
      const file = await written(framework, target, {
        kind: 'command',
        command: '.hub/bin/echo',
        args: [],
        env,
        isInTarget: true,
      });
      const found = (await answer(framework, [file, 'echo'], await tempDir(t))) as JsonObject;
      assert.deepEqual(found.tools, ['echo_text']);
      assert.match(String(found.answer), /hello, a key, nothing else/);
      if (framework === 'crewai') assert.deepEqual(found.arguments, ['text']);
    });
  });
}

describe('watsonx_orchestrate', { skip: missing.get('watsonx_orchestrate') ?? false }, () => {
  const TOOLKITS: [sentence: string, server: JsonObject, expected: JsonObject][] = [
    [
      'over http',
      { transport: 'HTTP', url: 'https://echo.example/mcp' },
      { url: 'https://echo.example/mcp', transport: 'streamable_http', command: null, connections: null },
    ],
    [
      'over SSE',
      { transport: 'SSE', url: 'https://echo.example/sse' },
      { url: 'https://echo.example/sse', transport: 'sse' },
    ],
    ['with a key', { url: 'https://echo.example/mcp', headers: { Authorization: '' } }, { connections: ['echo'] }],
    [
      'of npm',
      { exec: { cmd: ['npx', 'echo@1.0.0', '--root', 'a b'], env: { ECHO_KEY: '' } } },
      {
        command: 'npx',
        args: ['-y', 'echo@1.0.0', '--root', 'a b'],
        connections: ['echo'],
        url: null,
        transport: null,
      },
    ],
    ['of PyPI', { exec: { cmd: ['uvx', 'echo==1.0.0'] } }, { command: 'uvx', args: ['echo==1.0.0'] }],
  ];
  test('watsonx_orchestrate: toolkits for all kinds of servers are valid', async (t) => {
    const launch = remote('http', 'https://unused.example');
    const files: string[] = [];
    for (const [, server] of TOOLKITS)
      files.push(await written('watsonx_orchestrate', await tempDir(t), launch, { mcp_registration: { server } }));
    const found = (await answer('watsonx_orchestrate', files, await tempDir(t))) as JsonObject[];
    for (const [index, [sentence, , expected]] of TOOLKITS.entries())
      assert.partialDeepStrictEqual(found[index], { name: 'echo', tools: ['*'], ...expected }, sentence);
  });
});
