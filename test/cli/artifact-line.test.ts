import assert from 'node:assert/strict';
import { test } from 'node:test';
import { artifactLine } from '../../src/cli/output/artifact-line.ts';

const LINES: [artifact: Record<string, unknown>, line: string][] = [
  [{ kind: 'pypi', spec: { package: 'pdf-tables', version: '1.2.0' } }, 'pypi pdf-tables 1.2.0'],
  [
    { kind: 'pypi', spec: { package: 'a', index_url: 'https://me:hunter2@i.example/simple' } },
    'pypi a, index url https://i.example/simple',
  ],
  [
    { kind: 'oci', spec: { image: 'ghcr.io/a/b', tag: 'v1', digest: 'sha256:00' } },
    'oci ghcr.io/a/b v1, digest sha256:00',
  ],
  [
    { kind: 'git', spec: { repo: 'https://me:hunter2@g.example/a', ref: 'main', env: { TOKEN: 'hunter2' } } },
    'git https://g.example/a main',
  ],
  [{ kind: 'zip', spec: { url: 'https://z.example/a.zip', dest: 'a' } }, 'zip https://z.example/a.zip, dest a'],
  [{ kind: 'other', spec: { package: 'a', registry: 'npm', version: 2 } }, 'other a 2, registry npm'],
  [
    { kind: 'other', spec: { transport: 'SSE', url: 'https://r.example/sse' } },
    'other https://r.example/sse, transport SSE',
  ],
  [{ kind: 'conda', spec: { channel: 'x' } }, 'conda'],
  [{ kind: '', spec: null }, 'unknown'],
  [{ spec: ['odd'] }, 'unknown'],
  [{ kind: 7, spec: { package: { deep: true } } }, 'unknown'],
];
for (const [artifact, line] of LINES) {
  test(`artifact for people: ${line}`, () => assert.equal(artifactLine(artifact), line));
}
