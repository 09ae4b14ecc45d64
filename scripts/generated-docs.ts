// The generated files, as a map from path to text.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { readConfig } from '../src/config.ts';
import { ERROR_CODES, type ErrorCode } from '../src/errors.ts';
import { PROBLEMS } from '../src/http/problem.ts';
import { createServer } from '../src/http/server.ts';
import { createHub } from '../src/hub/hub.ts';
import { isSecret, SETTINGS } from '../src/settings.ts';
import { testWorld } from '../test/support/world.ts';
import { cliPages } from './cli-page.ts';
import { compiledKernels } from './compiled-kernels.ts';
import { sourceTreePages } from './source-tree.ts';

export async function generatedDocs(): Promise<Record<string, string>> {
  return {
    'docs/settings.md': settingsPage(),
    'docs/errors.md': errorsPage(),
    ...cliPages(GENERATED),
    ...sourceTreePages(GENERATED),
    'src/search/index/vector-kernels.ts': await compiledKernels(),
    'docs/openapi.json': `${JSON.stringify(await openApi(), null, 2)}\n`,
  };
}

const GENERATED = '<!-- Generated from the code by `npm run docs`; do not edit. -->';

function settingsPage(): string {
  const rows = Object.entries(SETTINGS.shape).map(([name, schema]) => {
    const secret = isSecret(name) ? ' Secret: never printed, logged or shown.' : '';
    return `| \`${name}\` | ${defaultOf(schema)} | ${schema.description ?? ''}${secret} |`;
  });
  return `${GENERATED}
# Settings

Settings are environment variables, read once at startup. \`hub serve\` also reads \`.env\` in its working directory; environment
variables override it. A blank setting counts as not set. If a setting is invalid, the hub prints one line that names it and exits with code 2.

| Name | Default | Meaning |
|---|---|---|
${rows.join('\n')}
`;
}

function defaultOf(schema: z.ZodType): string {
  const { data } = z.safeParse(schema, undefined);
  const text = Array.isArray(data) ? data.join(',') : data;
  return text === undefined || text === '' || typeof text === 'object' ? 'none' : `\`${text}\``;
}

function errorsPage(): string {
  const rows = (Object.keys(ERROR_CODES) as ErrorCode[]).map(
    (code) => `| \`${code}\` | ${PROBLEMS[code].status} | ${ERROR_CODES[code]} |`,
  );
  return `${GENERATED}
# Errors

Every error is \`application/problem+json\` (RFC 9457):

\`\`\`json
{
  "type": "urn:hub:problem:invalid_request",
  "title": "Invalid request",
  "status": 400,
  "detail": "The request is not valid: limit: must be a whole number from 1 to 500.",
  "code": "invalid_request",
  "error": "invalid_request",
  "request_id": "8a4b6c1e-…",
  "errors": [{ "path": "limit", "message": "must be a whole number from 1 to 500" }]
}
\`\`\`

\`detail\` is a sentence that says what to do. \`code\` is one of the codes below; \`error\` is the same, for older clients. \`errors\` is present for
invalid input. \`request_id\` is the \`X-Request-Id\` of the response; use it to find the request in the log.

| Code | Status | Meaning |
|---|---|---|
${rows.join('\n')}
`;
}

async function openApi(): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), 'hub-docs-'));
  const config = readConfig({ DB_PATH: join(folder, 'catalog.sqlite') });
  const world = testWorld();
  const hub = await createHub({ config, world, baseUrl: () => 'http://localhost' });
  const app = await createServer({ hub, config, world });
  try {
    const response = await app.inject('/openapi.json');
    if (response.statusCode !== 200) throw new Error(`/openapi.json answered ${response.statusCode}: ${response.body}`);
    return response.json();
  } finally {
    await app.close();
    await hub.close();
    await world.close();
    await rm(folder, { recursive: true, force: true });
  }
}
