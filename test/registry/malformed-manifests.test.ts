// Whatever manifests contain, every served entry is valid by the schemas of `server.json` and of the registry.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject } from '../../src/lib/json.ts';
import { OFFICIAL_META, PUBLISHER_META, type ServerList } from '../../src/registry/contract.ts';
import { testHub } from '../support/hub.ts';
import { until } from '../support/until.ts';

const string = { type: 'string' };
const boolean = { type: 'boolean' };
const uri = { type: 'string', format: 'uri' };
const moment = { type: 'string', format: 'date-time' };
const closed = (required: string[], properties: JsonObject): JsonObject => ({
  type: 'object',
  required,
  properties,
  additionalProperties: false,
});
const listOf = (items: JsonObject): JsonObject => ({ type: 'array', items });

const INPUT = {
  description: string,
  isRequired: boolean,
  isSecret: boolean,
  format: { enum: ['string', 'number', 'boolean', 'filepath'] },
  value: string,
  default: string,
  placeholder: string,
  choices: listOf(string),
};
const variables = { type: 'object', additionalProperties: closed([], INPUT) };
const WITH_VARIABLES = { ...INPUT, variables };
const named = closed(['name'], { ...WITH_VARIABLES, name: string });
const ARGUMENT = { ...WITH_VARIABLES, name: string, valueHint: string, isRepeated: boolean };
const argument = {
  anyOf: [
    closed(['type', 'name'], { ...ARGUMENT, type: { const: 'named' } }),
    {
      ...closed(['type'], { ...ARGUMENT, type: { const: 'positional' } }),
      anyOf: [{ required: ['value'] }, { required: ['valueHint'] }],
    },
  ],
};
const HTTP = {
  type: { enum: ['streamable-http', 'sse'] },
  url: { type: 'string', pattern: '^https?://[^\\s]+$' },
  headers: listOf(named),
};
const PACKAGE = closed(['registryType', 'identifier', 'transport'], {
  registryType: string,
  registryBaseUrl: uri,
  identifier: string,
  version: { type: 'string', minLength: 1, not: { const: 'latest' } },
  fileSha256: { type: 'string', pattern: '^[a-f0-9]{64}$' },
  runtimeHint: string,
  transport: { anyOf: [closed(['type'], { type: { const: 'stdio' } }), closed(['type', 'url'], HTTP)] },
  runtimeArguments: listOf(argument),
  packageArguments: listOf(argument),
  environmentVariables: listOf(named),
});
const ICON = closed(['src'], {
  src: { ...uri, maxLength: 255 },
  mimeType: { enum: ['image/png', 'image/jpeg', 'image/jpg', 'image/svg+xml', 'image/webp'] },
  sizes: listOf({ type: 'string', pattern: '^(\\d+x\\d+|any)$' }),
  theme: { enum: ['light', 'dark'] },
});
const SERVER = closed(['$schema', 'name', 'description', 'version'], {
  $schema: uri,
  name: { type: 'string', minLength: 3, maxLength: 200, pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$' },
  description: { type: 'string', minLength: 1, maxLength: 100 },
  title: { type: 'string', minLength: 1, maxLength: 100 },
  version: { type: 'string', maxLength: 255 },
  websiteUrl: uri,
  repository: closed(['url', 'source'], { url: uri, source: string, id: string, subfolder: string }),
  icons: listOf(ICON),
  packages: listOf(PACKAGE),
  remotes: listOf(closed(['type', 'url'], { ...HTTP, variables })),
  _meta: closed([], { [PUBLISHER_META]: { type: 'object' } }),
});
const OFFICIAL = closed(['status', 'statusChangedAt', 'publishedAt', 'updatedAt', 'isLatest'], {
  status: { enum: ['active', 'deprecated', 'deleted'] },
  statusChangedAt: moment,
  statusMessage: { type: 'string', maxLength: 500 },
  publishedAt: moment,
  updatedAt: moment,
  isLatest: boolean,
});
const ENTRY = closed(['server', '_meta'], {
  server: SERVER,
  _meta: { type: 'object', required: [OFFICIAL_META], properties: { [OFFICIAL_META]: OFFICIAL } },
});

/** RFC 3339: nonexistent days of a month are invalid. */
function isMoment(text: string): boolean {
  const [, day] = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  return day !== undefined && !Number.isNaN(Date.parse(text)) && new Date(`${day}T00:00:00Z`).toJSON().startsWith(day);
}

const ajv = new Ajv2020({ allErrors: true, strict: false });
ajv.addFormat('date-time', isMoment);
ajv.addFormat('uri', /^[a-z][a-z0-9+.-]*:[!#-;=?-[\]_a-z~]+$/i);
const isEntry = ajv.compile(ENTRY);

const stdio = { type: 'stdio' };
const pack = (fields: JsonObject): JsonObject => ({
  packages: [{ registryType: 'npm', identifier: 'a', transport: stdio, ...fields }],
});
const remote = (fields: JsonObject): JsonObject => ({
  remotes: [{ type: 'sse', url: 'https://a.example', ...fields }],
});
const odd: unknown[] = [
  7,
  true,
  null,
  'text',
  [],
  {},
  [7],
  ['text'],
  [null],
  [[]],
  [{}],
  { a: 7 },
  { a: { value: {} } },
];
const each = (member: string, of: (fields: JsonObject) => JsonObject) => odd.map((value) => of({ [member]: value }));

const MALFORMED: JsonObject[] = [
  ...['packages', 'remotes', 'icons', 'repository', 'links', 'lifecycle', 'title', 'tags', '_meta', 'homepage'].flatMap(
    (member) => each(member, (fields) => fields),
  ),
  ...['transport', 'version', 'registryBaseUrl', 'fileSha256', 'runtimeHint', 'runtimeArguments', 'packageArguments']
    .concat('environmentVariables', 'registryType', 'identifier', 'unknown')
    .flatMap((member) => each(member, pack)),
  ...['url', 'type', 'headers', 'variables', 'unknown'].flatMap((member) => each(member, remote)),
  ...['description', 'isRequired', 'format', 'value', 'default', 'choices', 'variables', 'placeholder', 'name'].flatMap(
    (member) => [
      ...each(member, (fields) => remote({ headers: [{ name: 'X', ...fields }] })),
      ...each(member, (fields) => remote({ variables: { x: fields } })),
      ...each(member, (fields) => pack({ packageArguments: [{ type: 'named', name: '--x', ...fields }] })),
      ...each(member, (fields) => pack({ runtimeArguments: [{ type: 'positional', ...fields }] })),
    ],
  ),
  pack({ transport: { type: 'sse' } }),
  pack({ transport: { type: 'pigeon', url: 'https://a.example' } }),
  pack({ version: 'latest' }),
  pack({ registryBaseUrl: 'not an address' }),
  pack({ packageArguments: [{ type: 'literal', value: 'x' }, { name: '--y' }, { type: 'positional', name: '-y' }] }),
  remote({ url: 'ftp://a.example' }),
  remote({ url: 'https://a b' }),
  { icons: [{ src: `https://a.example/${'x'.repeat(300)}` }, { src: 'https://a.example/<b>', sizes: ['big'] }] },
  { icons: [{ src: 'https://a.example/i.png', sizes: ['big', 'any'], theme: 'blue', mimeType: 'text/html' }] },
  { repository: { url: 'not an address', source: 'github' } },
  { links: { homepage: 'https://a.example/<b>', repository: 'https://github.com/a/b c' } },
  { _meta: { [PUBLISHER_META]: 'text' } },
  ...['yesterday', 7, '2026-02-31T00:00:00Z', '2026-05-01', '2026-05-01 10:00:00', '2026-05-01t10:00:00z', ''].flatMap(
    (date) => [
      { provenance: { published_at: date } },
      {
        provenance: { status_changed_at: date, registry_status: 'deleted' },
        lifecycle: { status: 'disabled', reason: 'x'.repeat(600) },
      },
    ],
  ),
];

test('malformed manifests: every entry is valid', async (t) => {
  const manifests = MALFORMED.map((fields, index) => {
    const name = `org.example/server-${String(index).padStart(4, '0')}`;
    return { type: 'mcp_server', id: name, name, version: '1.0.0', description: 'Odd.', ...fields };
  });
  const { app, hub } = await testHub(t, {});
  // The catalog refuses some of them.
  await hub.load(manifests.map((document) => ({ document })));
  const { total } = await hub.listCatalog({ text: '', sort: 'name', limit: 1, offset: 0 });
  assert.ok(total > 0.8 * manifests.length, `${total} of ${manifests.length}`);
  const listed = async () => {
    const entries: ServerList['servers'] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const url: string = `/v0.1/servers?limit=100&include_deleted=true&cursor=${cursor}`;
      const { servers, metadata }: ServerList = (await app.inject(url)).json();
      entries.push(...servers);
      cursor = metadata.nextCursor;
    }
    return entries;
  };
  // The registry applies this many changes in the background.
  await until(async () => (await listed()).length === total);
  for (const entry of await listed()) {
    const given = manifests.find(({ name }) => name === entry.server.name);
    assert.ok(
      isEntry(entry),
      `${JSON.stringify(isEntry.errors?.slice(0, 3))} of ${JSON.stringify(entry)} from ${JSON.stringify(given)}`,
    );
  }
});
