import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readManifest } from '../../src/catalog/manifest.ts';
import { qualityScore, qualitySignals, recencyScore } from '../../src/catalog/quality.ts';
import type { JsonObject } from '../../src/lib/json.ts';

const REQUIRED = { type: 'tool', id: 'pdf-tables', version: '1.0.0' };
const EVERYTHING = {
  description: 'Finds the tables in a PDF file and gives them back as CSV.',
  title: 'PDF Tables',
  tags: ['pdf'],
  license: 'MIT',
  source_url: 'https://git.example/pdf',
  homepage: 'https://pdf.example',
  artifacts: [{ kind: 'git' }],
  provenance: { published_at: '2026-01-01' },
};

test('quality: an entity without any details scores 0, one with all of them 1', () => {
  assert.equal(scoreOf({}), 0);
  assert.equal(scoreOf(EVERYTHING), 1);
});

test('quality: the weights add up to 1', () => {
  const sum = qualitySignals(readManifest(REQUIRED)).reduce((total, { weight }) => total + weight, 0);
  assert.ok(Math.abs(sum - 1) < 1e-9);
});

const withServer = (server: unknown) => ({ mcp_registration: { server } });
const SIGNALS: [fields: JsonObject, reason: string | undefined][] = [
  [{ description: 'x'.repeat(40) }, 'has a description of 40 characters or more'],
  [{ description: 'x'.repeat(39) }, undefined],
  [{ title: 'PDF' }, 'has a title'],
  [{ name: 'PDF' }, undefined],
  [{ tags: ['pdf'] }, 'has tags or capabilities'],
  [{ capabilities: ['ocr'] }, 'has tags or capabilities'],
  [{ license: 'MIT' }, 'names its license'],
  [{ license: 'Unknown' }, undefined],
  [{ source_url: 'https://git.example' }, 'links to its source repository'],
  [{ links: { repository: 'https://git.example' } }, 'links to its source repository'],
  [{ homepage: 'https://pdf.example' }, 'has a homepage, documentation or a readme'],
  [{ links: { homepage: 'https://pdf.example' } }, 'has a homepage, documentation or a readme'],
  [{ links: { documentation: 'https://pdf.example' } }, 'has a homepage, documentation or a readme'],
  [{ readme: '# PDF' }, 'has a homepage, documentation or a readme'],
  [{ artifacts: [{ kind: 'git' }] }, 'can be installed or connected to'],
  [{ packages: [{ identifier: 'pdf' }] }, 'can be installed or connected to'],
  [{ remotes: [{ url: 'https://pdf.example/mcp' }] }, 'can be installed or connected to'],
  [withServer({ url: 'https://pdf.example/sse' }), 'can be installed or connected to'],
  [withServer({ exec: { cmd: ['npx', { odd: true }] } }), 'can be installed or connected to'],
  [withServer({ url: ' ' }), undefined],
  [withServer({ exec: { cmd: [] } }), undefined],
  [withServer({ exec: 'npx' }), undefined],
  [withServer('https://pdf.example'), undefined],
  [{ provenance: { updated_at: '2026-01-01' } }, 'says when it was published'],
  [{ provenance: { updated_at: 'soon' } }, undefined],
];
for (const [fields, reason] of SIGNALS) {
  test(`quality: ${JSON.stringify(fields)} means that it ${reason ?? 'has nothing that counts'}`, () => {
    const met = qualitySignals(readManifest({ ...REQUIRED, ...fields })).filter((signal) => signal.met);
    assert.deepEqual(
      met.map((signal) => signal.reason),
      reason ? [reason] : [],
    );
    assert.equal(scoreOf(fields), met[0]?.weight ?? 0);
  });
}

test('quality: stays within 0..1, and more details never lower it', () => {
  const some = fc.subarray(Object.entries(EVERYTHING));
  fc.assert(
    fc.property(some, some, (one, other) => {
      const score = scoreOf(Object.fromEntries(one));
      const fuller = scoreOf(Object.fromEntries([...one, ...other]));
      assert.ok(score >= 0 && score <= fuller && fuller <= 1);
    }),
  );
});

const NOW = new Date('2026-06-01T00:00:00Z');
const AGES: [publishedAt: string | null, score: number][] = [
  [null, 0],
  ['2026-06-01T00:00:00.000Z', 1],
  ['2027-01-01T00:00:00.000Z', 1],
  ['2026-03-02T00:00:00.000Z', 0.841],
  ['2025-06-01T00:00:00.000Z', 0.5],
  ['2024-06-01T00:00:00.000Z', 0.25],
  ['1970-01-01T00:00:00.000Z', 0],
];
for (const [publishedAt, score] of AGES) {
  test(`recency: published ${publishedAt ?? 'at an unknown time'} is ${score} on ${NOW.toISOString()}`, () =>
    assert.equal(recencyScore(publishedAt, NOW), score));
}

test('recency: stays within 0..1, and the newer of two never scores less', () => {
  const time = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true });
  fc.assert(
    fc.property(time, time, time, (now, ...published) => {
      const [older = 0, younger = 0] = published
        .toSorted((a, b) => a.getTime() - b.getTime())
        .map((date) => recencyScore(date.toISOString(), now));
      assert.ok(older >= 0 && older <= younger && younger <= 1);
    }),
  );
});

function scoreOf(fields: JsonObject): number {
  return qualityScore(readManifest({ ...REQUIRED, ...fields }));
}
