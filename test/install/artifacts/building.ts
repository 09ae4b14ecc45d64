// Builds artifacts as an install does: in staging, and checks everything around it.

import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { ArtifactContext, ArtifactKind, Built, Resolution } from '../../../src/install/artifacts/artifact.ts';
import { InstallError } from '../../../src/install/errors.ts';
import { treeDigest } from '../../../src/install/target/tree.ts';
import { plainIssue } from '../../../src/lib/plain-issue.ts';
import { artifactContext, emptyFolder, failure, type Surroundings } from './artifact-context.ts';

export interface Building {
  context: ArtifactContext;
  /** The path of the built artifact. */
  folder: string;
  /** Reads the spec, resolves it unless a resolution is given, and builds. Removes unfinished files on failure. */
  install<Spec>(
    kind: ArtifactKind<Spec>,
    spec: unknown,
    some?: Partial<ArtifactContext> & { locked?: Resolution },
  ): Promise<Resolution & Built>;
  /** The message of the error; nothing is left inside or outside. */
  failure<Spec>(
    kind: ArtifactKind<Spec>,
    spec: unknown,
    some?: Partial<ArtifactContext> & { locked?: Resolution },
  ): Promise<string>;
  /** Paths of the files in the folder, sorted. */
  files(): Promise<string[]>;
  read(path: string): Promise<string>;
  /** Nothing outside the folder was changed. */
  assertContained(): Promise<void>;
}

export async function building(t: TestContext, surroundings: Surroundings = {}): Promise<Building> {
  const around = await emptyFolder(t);
  const stagingDir = join(around, 'outer/staging');
  const folder = join(stagingDir, 'built');
  await mkdir(stagingDir, { recursive: true });
  for (const canary of ['canary', 'outer/canary']) await writeFile(join(around, canary), 'untouched');
  const before = await outside();
  const context = { ...(await artifactContext(t, surroundings)), stagingDir };

  function outside(): Promise<string> {
    return treeDigest(around, ['staging']);
  }

  const install: Building['install'] = async (kind, spec, { locked, ...some } = {}) => {
    const read = kind.spec.safeParse(spec, { error: plainIssue });
    if (!read.success)
      throw new InstallError(read.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; '));
    await rm(stagingDir, { recursive: true });
    await mkdir(folder, { recursive: true });
    try {
      const resolution = locked ?? (await kind.resolve(read.data, { ...context, ...some }));
      return { ...resolution, ...(await kind.build(read.data, resolution, folder, { ...context, ...some })) };
    } catch (error) {
      await rm(stagingDir, { recursive: true });
      await mkdir(stagingDir);
      throw error;
    }
  };

  async function assertContained(): Promise<void> {
    assert.equal(await outside(), before);
  }

  return {
    context,
    folder,
    install,
    assertContained,
    async failure(kind, spec, some) {
      const sentence = await failure(install(kind, spec, some));
      await assertContained();
      return sentence;
    },
    async files() {
      const found = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = found.filter((entry) => !entry.isDirectory());
      return files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)).sort();
    },
    read: (path) => readFile(join(folder, path), 'utf8'),
  };
}
