// A target to install into, with everything around it watched.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import {
  type ArtifactInstaller,
  type InstallContext,
  InstallError,
  type InstalledArtifact,
} from '../../../src/install/artifacts/artifact-installer.ts';
import { makeWorkFolder, removeWorkFolder } from '../../../src/install/artifacts/own-folder.ts';
import { createDownload } from '../../../src/lib/download.ts';
import { createFetch } from '../../../src/lib/fetch.ts';
import { treeDigest } from '../../../src/lib/file-digest.ts';
import { createGuardedProxy } from '../../../src/lib/guarded-proxy.ts';
import { createRun } from '../../../src/lib/run.ts';
import type { Run } from '../../../src/lib/world.ts';

export interface Stage {
  targetDir: string;
  context: InstallContext;
  /** Reads the spec as the plan does, then installs; what is not finished is removed, as the step does. */
  install<Spec>(
    installer: ArtifactInstaller<Spec>,
    spec: unknown,
    some?: Partial<InstallContext>,
  ): Promise<InstalledArtifact>;
  /** The sentence it fails with. */
  failure<Spec>(installer: ArtifactInstaller<Spec>, spec: unknown, some?: Partial<InstallContext>): Promise<string>;
  /** Paths of the files in the target, sorted. */
  files(): Promise<string[]>;
  read(path: string): Promise<string>;
  /** Nothing beside the target was touched, and nothing unfinished is left in it. */
  assertContained(): Promise<void>;
}

export async function stage(
  t: TestContext,
  { allowPrivate = true, env = process.env }: { allowPrivate?: boolean; env?: NodeJS.ProcessEnv } = {},
): Promise<Stage> {
  const around = await realpath(await mkdtemp(join(tmpdir(), 'hub-install-')));
  const targetDir = join(around, 'outer', 'target');
  const scratchDir = join(targetDir, '.hub-scratch');
  await mkdir(targetDir, { recursive: true });
  const workDir = await makeWorkFolder(targetDir);
  await writeFile(join(around, 'canary'), 'untouched');
  await writeFile(join(around, 'outer', 'canary'), 'untouched');
  const before = await outside(around);
  const network = createFetch({ allowPrivate });
  const downloads = createDownload({ allowPrivate });
  const proxy = createGuardedProxy({ allowPrivate });
  t.after(async () => {
    await Promise.all([network, downloads, proxy].map((each) => each.close()));
    await rm(around, { recursive: true, force: true });
    await removeWorkFolder(workDir);
  });
  const context: InstallContext = {
    targetDir,
    scratchDir,
    workDir,
    signal: new AbortController().signal,
    knownPlaces: { ours: [], ofOthers: [] },
    run: neverIn(targetDir, createRun(env, proxy)),
    fetch: network.fetch,
    download: downloads.download,
    vetAddress: downloads.vetAddress,
    allowPrivateNetwork: allowPrivate,
  };

  const install: Stage['install'] = async (installer, spec, some = {}) => {
    const read = installer.spec.safeParse(spec);
    if (!read.success)
      throw new InstallError(read.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; '));
    await mkdir(scratchDir);
    await mkdir(workDir, { recursive: true });
    try {
      return await installer.install(read.data, { ...context, ...some });
    } finally {
      await rm(scratchDir, { recursive: true });
      await removeWorkFolder(workDir);
    }
  };

  return {
    targetDir,
    context,
    install,
    async failure(installer, spec, some) {
      const error = await install(installer, spec, some).then(
        (installed) => assert.fail(`it was installed: ${JSON.stringify(installed)}`),
        (reason: unknown) => reason,
      );
      assert.ok(error instanceof InstallError, error instanceof Error ? error.stack : String(error));
      return error.message;
    },
    async files() {
      const found = await readdir(targetDir, { recursive: true, withFileTypes: true });
      return found
        .filter((entry) => !entry.isDirectory())
        .map((entry) => join(entry.parentPath, entry.name).slice(targetDir.length + 1))
        .sort();
    },
    read: (path) => readFile(join(targetDir, path), 'utf8'),
    async assertContained() {
      assert.equal(await outside(around), before);
      assert.ok(!(await readdir(targetDir)).includes('.hub-scratch'));
    },
  };
}

/** Programs follow links: none is given a place in the target. That of its Python is a text for the scripts of packages. */
function neverIn(targetDir: string, run: Run): Run {
  const allowed = join(targetDir, '.venv/bin/python');
  // A folder beside it may have a name that begins like its own.
  const isIn = (text: string) =>
    text.includes(`${targetDir}/`) || text.endsWith(targetDir) || text.startsWith('/proc/');
  return (request) => {
    const { program, args, cwd, env = {} } = request;
    for (const text of [program, ...args, cwd, ...Object.values(env)])
      assert.ok(text === allowed || !isIn(text), `${program}: ${text}`);
    return run(request);
  };
}

function outside(around: string): Promise<string> {
  return treeDigest(around, { skip: ['outer/target'] });
}
