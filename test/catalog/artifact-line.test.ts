import assert from 'node:assert/strict';
import { test } from 'node:test';
import { artifactLine } from '../../src/catalog/artifact-kind.ts';

const LINES: [artifact: Record<string, unknown>, line: string][] = [
  [{ kind: 'pypi', spec: { package: 'pdf-tables', version: '1.2.0' } }, 'Python package pdf-tables 1.2.0'],
  [
    { kind: 'pypi', spec: { package: 'a', index_url: 'https://me:hunter2@i.example/simple' } },
    'Python package a, index url https://i.example/simple',
  ],
  [
    { kind: 'oci', spec: { image: 'ghcr.io/a/b', tag: 'v1', digest: 'sha256:00' } },
    'Container image ghcr.io/a/b v1, digest sha256:00',
  ],
  [
    { kind: 'git', spec: { repo: 'https://me:hunter2@g.example/a', ref: 'main', env: { TOKEN: 'hunter2' } } },
    'Git repository https://g.example/a main',
  ],
  [{ kind: 'zip', spec: { url: 'https://z.example/a.zip', dest: 'a' } }, 'Archive https://z.example/a.zip, dest a'],
  [{ kind: 'other', spec: { package: 'a', registry: 'npm', version: 2 } }, 'npm package a 2'],
  [{ kind: 'other', spec: { transport: 'SSE', url: 'https://r.example/sse' } }, 'Connects to https://r.example/sse'],
  [{ kind: 'other', spec: { package: 'a', registry: 'nuget' } }, 'other a, registry nuget'],
  [{ kind: 'conda', spec: { channel: 'x' } }, 'conda'],
  [{ kind: '', spec: null }, 'Unknown kind'],
  [{ spec: ['odd'] }, 'Unknown kind'],
  [{ kind: 7, spec: { package: { deep: true } } }, 'Unknown kind'],
];
for (const [artifact, line] of LINES) {
  test(`artifact for people: ${line}`, () => assert.equal(artifactLine(artifact), line));
}
