import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EntityRecord, EntitySummary, type TrustSignal } from '../../src/catalog/contract.ts';
import {
  entityFromManifest,
  presentRecord,
  presentSummary,
  presentVersions,
  type StoredEntity,
} from '../../src/catalog/entity.ts';
import { versionKey } from '../../src/catalog/version-order.ts';
import { jsonDigest } from '../../src/lib/json-digest.ts';
import { anyText } from '../lib/any-text.ts';
import { aManifest } from '../support/builders.ts';

const PRESENTATION = {
  baseUrl: 'https://hub.example',
  now: new Date('2026-06-01T12:00:00.000Z'),
  verifyingRemotes: [],
};
const SOURCE = 'https://catalog.example/pdf/manifest.json';

test('entity: has what the database sorts and filters by, and the original manifest', () => {
  const mcpRegistration = { server: { url: 'https://pdf.example/sse' } };
  const document = aManifest({
    version: 'v1.2.0',
    capabilities: ['ocr'],
    compatibility: { frameworks: ['crewai'], providers: ['openai'] },
    lifecycle: { status: 'deprecated' },
    provenance: { updated_at: '2026-01-01' },
    mcp_registration: mcpRegistration,
  });
  assert.deepEqual(entityFromManifest({ document, sourceUrl: SOURCE }), {
    uid: 'mcp_server:pdf-tables@v1.2.0',
    type: 'mcp_server',
    slug: 'pdf-tables',
    version: 'v1.2.0',
    versionKey: versionKey('v1.2.0'),
    isPrerelease: false,
    name: 'io.example.docs/pdf-tables',
    title: 'PDF Tables',
    summary: 'Reads tables out of PDF files.',
    status: 'deprecated',
    quality: 0.75,
    publishedAt: '2026-01-01T00:00:00.000Z',
    sourceUrl: SOURCE,
    manifestText: JSON.stringify(document),
    manifestDigest: jsonDigest(document),
    mcpRegistration,
    isRegistrable: true,
    facets: {
      capability: ['ocr'],
      framework: ['crewai'],
      provider: ['openai'],
      tag: ['pdf', 'tables'],
      transport: ['sse'],
    },
    facts: {
      publisher: 'io.example.docs',
      license: 'Apache-2.0',
      transports: ['sse'],
      artifacts: ['remote'],
      hasDigests: true,
      brings: jsonDigest({ server: mcpRegistration }),
    },
  });
});

test('entity: keeps the text of the manifest without changing its meaning', () => {
  const text = JSON.stringify(aManifest({ long: 0 }), null, '\t').replace('"long": 0', '"long": 12345678901234567890');
  const document = JSON.parse(text);
  const entity = entityFromManifest({ document, text });
  assert.equal(entity.manifestText, text);
  assert.equal(entity.manifestDigest, entityFromManifest({ document }).manifestDigest);
  assert.equal(entity.sourceUrl, null);
});

test('summary: has the fields of the specification', () => {
  const entity = aStoredEntity({ manifest: { provenance: { updated_at: '2025-06-01T12:00:00Z' } } });
  assert.deepEqual(presentSummary(entity, PRESENTATION), {
    id: 'mcp_server:pdf-tables@1.0.0',
    uid: 'mcp_server:pdf-tables@1.0.0',
    type: 'mcp_server',
    name: 'io.example.docs/pdf-tables',
    version: '1.0.0',
    title: 'PDF Tables',
    summary: 'Reads tables out of PDF files.',
    capabilities: [],
    frameworks: [],
    providers: [],
    tags: ['pdf', 'tables'],
    status: 'active',
    source_url: SOURCE,
    manifest_url: SOURCE,
    gateway_registered_at: null,
    gateway_error: 'no room',
    missing_since: null,
    missing_reason: null,
    changed_at: null,
    blocked_at: null,
    blocked_reason: null,
    remote: null,
    prerelease: false,
    score_quality: 0.55,
    score_recency: 0.5,
    published_at: '2025-06-01T12:00:00.000Z',
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-02-01T00:00:00.000Z',
  });
});

const LOCAL_ADDRESSES: [id: string, version: string, address: string][] = [
  ['pdf', '1.0.0', 'https://hub.example/catalog/manifest/mcp_server:pdf@1.0.0'],
  ['@scope/pdf', 'refs/heads/main', 'https://hub.example/catalog/manifest/mcp_server:@scope%2Fpdf@refs%2Fheads%2Fmain'],
  ['größe?#%', '1+2', 'https://hub.example/catalog/manifest/mcp_server:gr%C3%B6%C3%9Fe%3F%23%25@1%2B2'],
];
for (const [id, version, address] of LOCAL_ADDRESSES) {
  test(`summary: without its own address, the manifest of ${id}@${version} is at ${address}`, () => {
    const summary = presentSummary(aStoredEntity({ manifest: { id, version }, sourceUrl: null }), PRESENTATION);
    assert.equal(summary.source_url, null);
    assert.equal(summary.manifest_url, address);
    assert.equal(decodeURIComponent(new URL(address).pathname), `/catalog/manifest/${summary.id}`);
  });
}

test('record: adds details from the manifest, reasons for the score, and all versions', () => {
  const manifest = {
    homepage: 'https://pdf.example',
    readme: '# PDF',
    source_url: 'https://git.example/pdf',
    artifacts: [{ kind: 'git', spec: { repo: 'https://git.example/pdf' } }],
    adapters: [{ framework: 'crewai', template_key: 'tool' }],
    compatibility: { runtime: 'node' },
    lifecycle: { status: 'deprecated', reason: 'Moved.' },
    provenance: { source: 'registry' },
    mcp_registration: { tool: { name: 'pdf' } },
  };
  const entity = aStoredEntity({ manifest });
  const versions = [
    {
      uid: 'mcp_server:pdf-tables@2.0.0',
      version: '2.0.0',
      status: 'active' as const,
      isBlocked: false,
      isHidden: false,
      isMissing: false,
    },
  ];
  const { quality, ...record } = presentRecord(entity, presentVersions(versions), PRESENTATION);
  assert.deepEqual(record, {
    ...presentSummary(entity, PRESENTATION),
    description: 'Finds the tables in a PDF file and gives them back as CSV, with merged cells resolved.',
    license: 'Apache-2.0',
    homepage: 'https://pdf.example',
    readme: '# PDF',
    schema_version: 1,
    artifacts: manifest.artifacts,
    adapters: manifest.adapters,
    compatibility: manifest.compatibility,
    links: { repository: 'https://git.example/pdf' },
    lifecycle: manifest.lifecycle,
    provenance: manifest.provenance,
    mcp_registration: manifest.mcp_registration,
    trust: {
      state: 'not_checked',
      checked_at: null,
      signals: [
        unchecked({ signal: 'other', artifact: null, detail: 'No check has run yet.' }),
        unchecked({
          signal: 'namespace',
          artifact: 'io.example.docs',
          detail: 'It was not verified by a registry that this hub trusts.',
        }),
      ],
    },
    versions: [
      {
        id: 'mcp_server:pdf-tables@2.0.0',
        version: '2.0.0',
        status: 'active',
        prerelease: false,
        blocked: false,
        hidden: false,
        missing: false,
      },
    ],
  });
  const sum = quality.filter(({ met }) => met).reduce((total, { weight }) => total + weight, 0);
  assert.equal(Math.round(sum * 1000) / 1000, record.score_quality);
});

test('record: matches the contract, whatever the manifest contains', () => {
  const fields = Object.keys(aManifest({ ...EntityRecord.shape, source_url: '', readme: '', _meta: {} }));
  const odd = fc.dictionary(fc.constantFrom(...fields), fc.oneof(anyText(), fc.array(anyText()), fc.jsonValue()));
  fc.assert(
    fc.property(odd, (oddFields) => {
      const entity = aStoredEntity({ manifest: { ...oddFields, type: 'tool', id: 'odd', version: '1' } });
      const record = { ...presentRecord(entity, [], PRESENTATION), listed_by: [], remote_name: null };
      assert.deepEqual(EntityRecord.strict().parse(record), record);
      const summary = presentSummary(entity, PRESENTATION);
      assert.deepEqual(EntitySummary.strict().parse(summary), summary);
    }),
    { numRuns: 300 },
  );
});

test('entity: an address with a secret is shown without it, and the manifest is read from the hub', () => {
  const manifest = { id: 'own', version: '1.0.0' };
  const sourceUrl = 'https://me:password@catalog.example.org/own.json?page=1&private_token=s3cret';
  const { source_url, manifest_url } = presentSummary(aStoredEntity({ manifest, sourceUrl }), PRESENTATION);
  assert.equal(source_url, 'https://catalog.example.org/own.json?page=1&private_token=***');
  assert.equal(manifest_url, `${PRESENTATION.baseUrl}/catalog/manifest/mcp_server:own@1.0.0`);
});

function unchecked(signal: Pick<TrustSignal, 'signal' | 'artifact' | 'detail'>): TrustSignal {
  return { ...signal, state: 'not_checked', digest: null, source: null };
}

function aStoredEntity({
  manifest,
  sourceUrl = SOURCE,
}: {
  manifest: Record<string, unknown>;
  sourceUrl?: string | null;
}): StoredEntity {
  return {
    ...entityFromManifest({ document: aManifest(manifest) }),
    sourceUrl,
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-02-01T00:00:00.000Z',
    gatewayRegisteredAt: null,
    gatewayError: 'no room',
    missingSince: null,
    missingReason: null,
    changedAt: null,
    blockedAt: null,
    blockedReason: null,
    ownerUrl: null,
    isHidden: false,
    isHeld: false,
    contentFrom: null,
    trust: null,
    needsApproval: false,
  };
}
