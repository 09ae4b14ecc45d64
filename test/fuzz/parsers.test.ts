// For any input, a parser returns a result or its own error, and reads what it wrote.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'smol-toml';
import { entityFromManifest } from '../../src/catalog/entity.ts';
import { readManifest } from '../../src/catalog/manifest.ts';
import { parseManifestText } from '../../src/catalog/manifest-text.ts';
import { formatUid, parseReference } from '../../src/catalog/uid.ts';
import { HubError } from '../../src/errors.ts';
import { routableUrl } from '../../src/http/address-path.ts';
import { csv, wholeNumber, words } from '../../src/http/query-string.ts';
import { tomlConfig } from '../../src/install/adapters/toml-config.ts';
import { InstallError } from '../../src/install/errors.ts';
import { parseLockfile } from '../../src/install/lockfile/lockfile.ts';
import { readPolicy } from '../../src/policy/read-policy.ts';
import { isAgentCard, manifestFromAgentCard } from '../../src/registry/agent-card.ts';
import { ArdExplore, ArdSearch } from '../../src/registry/contract.ts';
import { readCursor, writeCursor } from '../../src/registry/cursor.ts';
import { publishingFaults, validateDocument } from '../../src/registry/publishing/validate.ts';
import { readIndexDocument } from '../../src/remotes/fetching/read-index.ts';
import { anyText } from '../lib/any-text.ts';
import { aManifest } from '../support/builders.ts';
import { SOON } from '../support/in-time.ts';
import { anAgentCard } from '../support/servers/agent-card.ts';
import { almost, longText, oddValue, RUNS } from './odd.ts';

const manifest = aManifest({
  artifacts: [
    { kind: 'npm', spec: { package: 'pdf-tables', version: '1.0.0' } },
    { kind: 'oci', spec: { image: 'ghcr.io/acme/pdf', digest: `sha256:${'0'.repeat(64)}` } },
    { kind: 'zip', spec: { url: 'https://h.example/a.zip', dest: 'a' } },
  ],
  adapters: [{ framework: 'langgraph', template_key: 'default', params: { a: 1 } }],
  mcp_registration: {
    server: { name: 'pdf', transport: 'SSE', url: 'https://h.example/sse' },
    tool: { name: 'read', integration_type: 'REST', url: 'https://h.example/x', input_schema: { type: 'object' } },
    resources: [{ id: 'r', name: 'r', uri: 'file://r', content: 'text' }],
    prompts: [{ id: 'p', name: 'p', template: 'Say {{ word }}', arguments: [{ name: 'word' }] }],
  },
  lifecycle: { status: 'active' },
  capabilities: ['read'],
  examples: [{ prompt: 'Read it' }],
});
const server = {
  $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  name: 'com.acme/notes',
  description: 'Reads and writes notes.',
  version: '1.0.0',
  repository: { url: 'https://github.com/acme/notes', source: 'github' },
  packages: [
    {
      registryType: 'npm',
      identifier: '@acme/notes',
      version: '1.0.0',
      transport: { type: 'stdio' },
      runtimeArguments: [{ type: 'named', name: '--port', value: '{port}', variables: { port: { default: '80' } } }],
      environmentVariables: [{ name: 'TOKEN', isSecret: true, isRequired: true }],
    },
  ],
  remotes: [
    {
      ...{ type: 'streamable-http', url: 'https://{host}/mcp', variables: { host: { default: 'h.example' } } },
      headers: [{ name: 'X', value: '{key}', variables: { key: { isSecret: true } } }],
    },
  ],
  _meta: { 'io.modelcontextprotocol.registry/official': { status: 'active', isLatest: true } },
};
const index = {
  manifests: ['/a.json', { manifest }, { path: 'b.json', base_url: 'https://h.example', sha256: '0'.repeat(64) }],
  items: [{ manifest_url: 'https://h.example/c.json' }, anAgentCard()],
  servers: [{ server, _meta: server._meta }, server],
  metadata: { nextCursor: 'next' },
};
const policy = {
  version: 1,
  rules: [
    { name: 'ours', match: { type: 'mcp_server', name: 'com.acme/*', quality_below: 0.5 }, outcome: 'allow' },
    { match: { license: ['MIT', 'Apache-2.0'], transport: 'stdio' }, search: 'hide', register: 'require_approval' },
  ],
};
const lockfile = {
  version: 1,
  entities: [
    {
      ...{ id: 'tool:a@1.0.0', type: 'tool', name: 'a', version: '1.0.0' },
      artifacts: [
        { kind: 'npm', spec: { package: 'a' }, path: 'a', ok: true, resolved: '1.0.0', integrity: 'sha512-a' },
      ],
      adapters: [],
      provenance: { manifest_url: null, source_url: 'https://h.example/a.json', manifest_digest: 'sha256:a' },
    },
  ],
};

test('fuzz: the samples are valid, so that small changes of them reach every part of a parser', () => {
  entityFromManifest({ document: manifest });
  readPolicy(JSON.stringify(policy));
  parseLockfile(JSON.stringify(lockfile));
  const { _meta, ...published } = server;
  assert.deepEqual(publishingFaults(published), []);
});

const asText = fc.oneof(
  anyText(200),
  longText,
  almost(manifest).map((value) => JSON.stringify(value) ?? ''),
);

test('fuzz: texts of manifests are read or refused', SOON, () => {
  fc.assert(
    fc.property(asText, fc.constantFrom('a.json', 'a.yaml', 'a'), (text, name) => {
      only(HubError, () => parseManifestText(name, text));
    }),
    RUNS,
  );
});

test('fuzz: manifests become entities or are refused', SOON, () => {
  fc.assert(
    fc.property(almost(manifest), (document) => {
      only(HubError, () => readManifest(document));
      const entity = only(HubError, () => entityFromManifest({ document }));
      if (entity) assert.equal(formatUid(parseReference(entity.uid) as Parameters<typeof formatUid>[0]), entity.uid);
    }),
    RUNS,
  );
});

test('fuzz: indexes are read or refused, and an odd entry does not affect the others', SOON, () => {
  fc.assert(
    fc.property(almost(index), (document) => {
      const page = only(HubError, () => readIndexDocument(document, 'https://h.example/index.json'));
      for (const entry of page?.entries ?? []) {
        assert.ok(entry.url.length > 0);
        if (entry.manifest !== undefined) only(HubError, () => entityFromManifest({ document: entry.manifest }));
      }
    }),
    RUNS,
  );
  fc.assert(
    fc.property(oddValue, (odd) => {
      const { entries } = readIndexDocument({ manifests: [odd, '/a.json'] }, 'https://h.example/index.json');
      assert.ok(entries.some(({ url }) => url === 'https://h.example/a.json'));
    }),
    RUNS,
  );
});

test('fuzz: agent cards are kept unchanged in their manifests', SOON, () => {
  fc.assert(
    fc.property(almost(anAgentCard()), (card) => {
      if (!isAgentCard(card)) return;
      const document = manifestFromAgentCard(card);
      only(HubError, () => entityFromManifest({ document }));
      assert.deepEqual(document.agent_card, card);
    }),
    RUNS,
  );
});

test('fuzz: a document with errors is invalid and cannot be published', SOON, () => {
  fc.assert(
    fc.property(fc.oneof(almost(server), almost(manifest), almost(anAgentCard())), (document) => {
      const { valid, issues } = validateDocument(document);
      assert.equal(
        valid,
        issues.every(({ severity }) => severity !== 'error'),
      );
      assert.ok(valid || publishingFaults(document).length > 0);
    }),
    RUNS,
  );
});

test('fuzz: policies in YAML and JSON are read or refused', SOON, () => {
  const text = fc.oneof(
    almost(policy).map((value) => JSON.stringify(value, null, 2) ?? ''),
    asText,
    anyText(50).map((odd) => `version: 1\nrules:\n  - match: { name: ${odd} }\n    outcome: allow\n`),
  );
  fc.assert(
    fc.property(text, (written) => {
      const read = only(HubError, () => readPolicy(written));
      if (read) assert.deepEqual(readPolicy(JSON.stringify(read)), read);
    }),
    RUNS,
  );
});

test('fuzz: lockfiles are read or refused', SOON, () => {
  const text = fc.oneof(
    asText,
    almost(lockfile).map((value) => JSON.stringify(value) ?? ''),
  );
  fc.assert(
    fc.property(text, (written) => {
      const read = only(InstallError, () => parseLockfile(written));
      if (read) assert.deepEqual(parseLockfile(JSON.stringify(read)), read);
    }),
    RUNS,
  );
});

test('fuzz: cursors are read as written, and forged ones are refused', SOON, () => {
  const plain = (maxLength: number) => anyText(maxLength).map((text) => text.replaceAll('\0', '').toWellFormed());
  const query = fc.record({ search: plain(30), version: plain(10), includeDeleted: fc.boolean() });
  const after = fc.record({
    in: fc.constantFrom('names', 'ranked'),
    rank: fc.nat(2),
    name: plain(30),
    version: plain(10),
  });
  fc.assert(
    fc.property(query, after, (asked, position) => {
      const cursor = writeCursor(asked, position as Parameters<typeof writeCursor>[1]);
      assert.deepEqual(readCursor(cursor, asked), { query: { ...asked }, after: { ...position } });
    }),
    RUNS,
  );
  const forged = fc.oneof(
    asText,
    almost({ after: { in: 'names', rank: 0, name: 'a', version: '1' }, includeDeleted: false }).map((value) =>
      Buffer.from(JSON.stringify(value) ?? '').toString('base64url'),
    ),
  );
  fc.assert(
    fc.property(forged, (text) => void only(HubError, () => readCursor(text, {}))),
    RUNS,
  );
});

test('fuzz: values from query strings stay within their limits, and addresses are normalized once', SOON, () => {
  const given = fc.oneof(anyText(100), longText, fc.array(anyText()), fc.constant(undefined));
  fc.assert(
    fc.property(given, (value) => {
      const list = csv({ most: 20, longest: 50 }).safeParse(value);
      if (list.success) assert.ok(list.data.length <= 20 && list.data.every((each) => each.length <= 50));
      const number = wholeNumber(1, 100).safeParse(value);
      if (number.success) assert.ok(Number.isInteger(number.data) && number.data >= 1 && number.data <= 100);
      const text = words(50).safeParse(value);
      if (text.success) assert.ok(text.data.length <= 50 && !text.data.includes('\0'));
    }),
    RUNS,
  );
  fc.assert(
    fc.property(fc.oneof(anyText(100), longText), (text) => {
      const url = routableUrl(`/${text}`);
      assert.equal(routableUrl(url), url, 'a second pass changes nothing');
      parseReference(text);
    }),
    RUNS,
  );
});

test('fuzz: ARD filters are read or refused', SOON, () => {
  const search = { query: { text: 'notes', filter: { type: ['a'], tags: ['b'] } }, pageSize: 10, pageToken: 'x' };
  const explore = { query: { text: 'a' }, resultType: { facets: [{ field: 'type', limit: 10, minCount: 1 }] } };
  fc.assert(
    fc.property(almost(search), almost(explore), (one, other) => {
      for (const [filter, document] of [
        [ArdSearch, one],
        [ArdExplore, other],
      ] as const) {
        const read = filter.safeParse(document);
        if (read.success) assert.deepEqual(filter.parse(read.data), read.data, 'read as written');
      }
    }),
    RUNS,
  );
});

test('fuzz: an entry is added to any TOML configuration and removed from it, or nothing changes', SOON, () => {
  const pieces = [
    ...['[mcp_servers.notes]\ncommand = "y"\n', '[mcp_servers.notes.tools.a]\nb = 1\n', '[mcp_servers.b]\n', '[[h]]\n'],
    ...['[mcp_servers."a]b"]\n', 'c = """\n[mcp_servers.notes]\n"""\n', "d = '''\n[x]\n'''\n", '[other]\r\ne = 1\r\n'],
    ...['mcp_servers.notes.f = 1\n', 'mcp_servers = { notes = { g = 1 } }\n', '# i\n', '\n', 'j = 1', '\r\n'],
  ];
  const entry = { command: 'x', env: { A: 'b' } };
  const place = { format: 'toml', section: 'mcp_servers', name: 'notes', entry } as const;
  const split = (text: string) => {
    // Without prototypes.
    const { mcp_servers: servers = {}, ...others } = JSON.parse(JSON.stringify(parse(text)));
    const { notes, ...siblings } = servers;
    return { notes, rest: { ...others, ...siblings } };
  };
  const isToml = (text: string) => only(Error, () => parse(text)) !== undefined;
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 5 }).map((some) => some.join(''));
  fc.assert(
    fc.property(text.filter(isToml), (written) => {
      const { rest } = split(written);
      const added = only(RangeError, () => tomlConfig.put(written, place));
      if (added) assert.deepEqual(split(added), { notes: entry, rest });
      const removed = tomlConfig.remove(written, place);
      if (removed !== written) assert.deepEqual(split(removed), { notes: undefined, rest });
    }),
    { ...RUNS, numRuns: 1_000 },
  );
});

/** The result, or undefined when it throws an error of this class. */
function only<T>(expected: new (...args: never[]) => Error, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof expected) return undefined;
    throw error;
  }
}
