import assert from 'node:assert/strict';
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { readLockfile } from '../../../src/install/lockfile/lockfile.ts';
import { makeFolderInside, pathInside, relativePathFault, writeFileInside } from '../../../src/install/target/files.ts';
import { checkTarget, type TargetRule, usableTarget } from '../../../src/install/target/target.ts';
import { createTargetQueue, lockTarget } from '../../../src/install/target/target-queue.ts';
import { fileDigest, treeDigest } from '../../../src/install/target/tree.ts';
import { until } from '../../support/until.ts';
import { aFolder } from '../installing.ts';

async function prepareTarget(target: string, rule: TargetRule): Promise<string> {
  const folder = await usableTarget(target, rule);
  await mkdir(folder, { recursive: true });
  return folder;
}

const BAD_TEXTS = { empty: '', blank: '  ', NUL: 'a\u0000b', 'a line break': 'a\nb', 'too long': 'x/'.repeat(2000) };

for (const [name, target] of Object.entries(BAD_TEXTS)) {
  test(`target: ${name} is refused`, async (t) => {
    const workingDir = await aFolder(t);
    await assert.rejects(prepareTarget(target, { installRoot: undefined, workingDir }), {
      name: 'HubError',
      code: 'invalid_request',
      message: /target: must not/,
    });
    assert.deepEqual(await readdir(workingDir), []);
  });
}

test('target: is relative to the working folder, or to the root if one is set; created when missing', async (t) => {
  const [workingDir, installRoot] = [await aFolder(t), await aFolder(t)];
  assert.equal(await prepareTarget('a/b', { installRoot: undefined, workingDir }), join(workingDir, 'a/b'));
  assert.equal(await prepareTarget('a/b', { installRoot, workingDir }), join(installRoot, 'a/b'));
  assert.equal(await prepareTarget('.', { installRoot, workingDir }), installRoot);
  assert.equal(await prepareTarget('~', { installRoot, workingDir }), join(installRoot, '~'), 'no shell here');
  assert.equal(await prepareTarget(join(installRoot, 'abs'), { installRoot, workingDir }), join(installRoot, 'abs'));
  assert.equal(await prepareTarget('x/../y', { installRoot, workingDir }), join(installRoot, 'y'));
});

test('target: a check creates nothing', async (t) => {
  const [workingDir, installRoot] = [await aFolder(t), await aFolder(t)];
  assert.equal(await checkTarget('a/b', { installRoot, workingDir }), join(installRoot, 'a/b'));
  assert.deepEqual(await readdir(installRoot), []);

  const later = join(workingDir, 'not/there/yet');
  assert.equal(await checkTarget('a', { installRoot: later, workingDir }), join(later, 'a'));
  await assert.rejects(checkTarget('../a', { installRoot: later, workingDir }), /INSTALL_ROOT/);
  assert.deepEqual(await readdir(workingDir), []);
  assert.equal(await prepareTarget('a', { installRoot: later, workingDir }), join(later, 'a'));
});

test('target: INSTALL_ROOT blocks .., absolute paths and links', async (t) => {
  const [outside, installRoot, workingDir] = [await aFolder(t), await aFolder(t), await aFolder(t)];
  const rule = { installRoot, workingDir };
  await symlink(outside, join(installRoot, 'link'));
  await mkdir(join(installRoot, 'real'));
  await symlink('real', join(installRoot, 'inner'));
  await symlink(join(outside, 'not-there'), join(installRoot, 'dangling'));
  await symlink('loop', join(installRoot, 'loop'));
  const escapes = [
    '..',
    '../x',
    'a/../../x',
    outside,
    '/',
    '/etc',
    `${installRoot}-sibling`,
    'link',
    'link/x',
    'link/../../x',
  ];
  for (const target of [...escapes, 'dangling', 'dangling/x', 'loop', 'loop/x']) {
    await assert.rejects(prepareTarget(target, rule), { name: 'HubError', code: 'invalid_request' }, target);
    await assert.rejects(checkTarget(target, rule), { name: 'HubError', code: 'invalid_request' }, target);
  }
  assert.equal(
    await prepareTarget('inner/x', rule),
    join(installRoot, 'real/x'),
    'a link that stays inside is resolved',
  );
  assert.deepEqual(await readdir(outside), []);
});

test('target: a root behind a link works and is not an escape', async (t) => {
  const [folder, workingDir] = [await aFolder(t), await aFolder(t)];
  await mkdir(join(folder, 'real'));
  await symlink('real', join(folder, 'root'));
  const rule = { installRoot: join(folder, 'root'), workingDir };
  assert.equal(await prepareTarget('a', rule), join(folder, 'real/a'));
  await assert.rejects(prepareTarget('../x', rule), /INSTALL_ROOT/);
});

test('target: reports a file at the path of the folder or above it', async (t) => {
  const workingDir = await aFolder(t);
  await writeFile(join(workingDir, 'file'), 'text');
  const rule = { installRoot: undefined, workingDir };
  await assert.rejects(prepareTarget('file', rule), /target: is a file, but must be a folder/);
  await assert.rejects(prepareTarget('file/below', rule), /A file is where a folder should be/);
  await assert.rejects(checkTarget('file/below', rule), { code: 'invalid_request' });
});

test('target: a check reports what could not be created or written, and creates nothing', async (t) => {
  const workingDir = await aFolder(t);
  await chmod(workingDir, 0o755);
  await mkdir(join(workingDir, 'closed'));
  await chmod(join(workingDir, 'closed'), 0o555);
  await mkdir(join(workingDir, 'open'));
  await chmod(join(workingDir, 'open'), 0o777);
  const reports = await asOrdinaryProcess(workingDir, ['open/a/b', 'closed', 'closed/a/b']);
  const fault =
    'The target cannot be used. The hub may not write there: give its user permission, or choose another target.';
  assert.deepEqual(reports, [
    { seen: null, made: [] },
    { seen: fault, made: [] },
    { seen: fault, made: [] },
  ]);
});

interface TargetReport {
  seen: string | null;
  /** What the check created. */
  made: string[];
}

/**
 * Runs in a separate process, because access is checked for the real user, which cannot be changed back. The process
 * drops its privileges only after its imports, because an ordinary user may not be able to read this folder.
 */
async function asOrdinaryProcess(workingDir: string, targets: string[]): Promise<TargetReport[]> {
  const script = `
    import { mkdirSync, readdirSync } from 'node:fs';
    import { usableTarget } from '${new URL('../../../src/install/target/target.ts', import.meta.url).href}';
    if (process.geteuid?.() === 0) {
      process.setgroups([]);
      process.setgid(65_534);
      process.setuid(65_534);
    }
    const rule = ${JSON.stringify({ workingDir })};
    const reports = [];
    for (const target of ${JSON.stringify(targets)}) {
      const looked = usableTarget(target, rule);
      const seen = await looked.then(() => null, ({ message }) => message);
      const made = readdirSync(rule.workingDir + '/' + target.split('/')[0]);
      if (!seen) mkdirSync(await looked, { recursive: true });
      reports.push({ seen, made });
    }
    console.log(JSON.stringify(reports));`;
  const args = ['--input-type=module', '-e', script];
  return JSON.parse((await promisify(execFile)(process.execPath, args, { cwd: '/' })).stdout);
}

const REFUSED: Record<string, RegExp> = {
  '': /empty/,
  '..': /'\.\.'/,
  'a/../b': /'\.\.'/,
  '../a': /'\.\.'/,
  '/etc/passwd': /relative/,
  'C:/windows': /relative/,
  'c:x': /relative/,
  'a\\..\\b': /'\\'/,
  './a': /'\.'/,
  'a//b': /empty segments/,
  'a/./b': /'\.'/,
  'a\u0000b': /control/,
  'a\nb': /control/,
  'a\ud800': /control/,
  [`${'x'.repeat(256)}/a`]: /too long/,
  ['a/'.repeat(600)]: /longer/,
};

for (const [path, reason] of Object.entries(REFUSED)) {
  test(`files: ${JSON.stringify(path.slice(0, 30))} is not a path inside a folder`, async (t) => {
    assert.match(relativePathFault(path) ?? '', reason);
    await assert.rejects(pathInside(await aFolder(t), path), { name: 'InstallError' });
  });
}

for (const path of ['a', 'a/b/c.txt', '.cursor/mcp.json', 'ü/名前', 'a b', '...', 'a..b', '-x', 'folder/']) {
  test(`files: ${JSON.stringify(path)} is a path inside a folder`, () =>
    assert.equal(relativePathFault(path), undefined));
}

test('files: no text escapes the folder', async (t) => {
  const root = await aFolder(t);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('..', '.', '', 'a', '/', '\\', '~', 'C:', '%2e%2e'), { maxLength: 6 }),
      async (parts) => {
        const whole = await pathInside(root, parts.join('/')).catch(() => undefined);
        assert.ok(whole === undefined || whole.startsWith(`${root}/`));
      },
    ),
  );
});

test('files: links in a path are refused, wherever they lead', async (t) => {
  const root = await aFolder(t);
  const outside = await aFolder(t);
  await mkdir(join(root, 'real'));
  await symlink(outside, join(root, 'out'));
  await symlink('real', join(root, 'in'));
  await symlink('/no/such/place', join(root, 'dangling'));
  for (const path of ['out', 'out/x', 'in/x', 'dangling', 'dangling/x']) {
    await assert.rejects(writeFileInside(root, path, 'text'), { name: 'InstallError', message: /link/ }, path);
    await assert.rejects(makeFolderInside(root, path), { name: 'InstallError' }, path);
  }
  assert.deepEqual(await readdir(outside), []);
});

test('files: a file is written atomically, and its folders are created', async (t) => {
  const root = await aFolder(t);
  const path = await writeFileInside(root, 'a/b/c.txt', 'one');
  assert.equal(path, join(root, 'a/b/c.txt'));
  await writeFileInside(root, 'a/b/c.txt', 'two');
  assert.equal(await readFile(path, 'utf8'), 'two');
  assert.deepEqual(await readdir(join(root, '.hub')), [], 'nothing unfinished is left');
});

test('files: a replaced file keeps its permissions', async (t) => {
  const root = await aFolder(t);
  const modeOf = async (path: string) => ((await stat(join(root, path))).mode & 0o777).toString(8);
  const asUsual = (0o644 & ~process.umask()).toString(8);
  await writeFileInside(root, 'a', 'one');
  assert.equal(await modeOf('a'), asUsual);
  for (const mode of ['600', '664', '755', '400']) {
    await chmod(join(root, 'a'), Number.parseInt(mode, 8));
    await writeFileInside(root, 'a', mode);
    assert.equal(await modeOf('a'), mode);
  }
});

test('files: a replaced file keeps its owner', {
  skip: process.getuid?.() !== 0 && 'only root gives files away: run the tests as root',
}, async (t) => {
  const root = await aFolder(t);
  await writeFileInside(root, 'a', 'one');
  await chmod(join(root, 'a'), 0o640);
  await chown(join(root, 'a'), 1234, 2345);
  await writeFileInside(root, 'a', 'two');
  const { uid, gid, mode } = await stat(join(root, 'a'));
  assert.deepEqual([uid, gid, mode & 0o777], [1234, 2345, 0o640]);
});

test('files: reports a file in place of a folder, and a folder in place of a file', async (t) => {
  const root = await aFolder(t);
  await writeFileInside(root, 'a', 'text');
  await mkdir(join(root, 'folder'));
  await assert.rejects(writeFileInside(root, 'a/b', 'x'), { name: 'InstallError', message: /'a' is a file/ });
  await assert.rejects(writeFileInside(root, 'folder', 'x'), { name: 'InstallError', message: /is a folder/ });
});

test('files: the digest of a folder depends on its content, not on times or order', async (t) => {
  const [one, other] = [await aFolder(t), await aFolder(t)];
  for (const path of ['b', 'a/x', 'ü']) await writeFileInside(one, path, path);
  for (const path of ['ü', 'a/x', 'b']) await writeFileInside(other, path, path);
  assert.equal(await treeDigest(one), await treeDigest(other));
  assert.match(
    await fileDigest(join(one, 'b')),
    /^sha256:3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d$/,
  );
  const changes = [
    () => writeFile(join(other, 'b'), 'changed'),
    () => chmod(join(other, 'b'), 0o755),
    () => mkdir(join(other, 'empty')),
    () => symlink('b', join(other, 'link')),
  ];
  const seen = new Set([await treeDigest(other)]);
  for (const change of changes) {
    await change();
    const digest = await treeDigest(other);
    assert.ok(!seen.has(digest));
    seen.add(digest);
  }
  assert.equal(await readlink(join(other, 'link')), 'b');
  assert.notEqual(await treeDigest(other, ['empty']), await treeDigest(other));
});

/** Opening a pipe without a writer never returns. */
const options = { timeout: 60_000, skip: process.platform === 'win32' && 'Windows has no such pipes' };

test('files: a pipe is not read, and is part of the digest of its folder', options, async (t) => {
  const root = await aFolder(t);
  const empty = await treeDigest(root);
  execFileSync('mkfifo', [join(root, 'hub.lock.json')]);
  assert.notEqual(await treeDigest(root), empty);
  await assert.rejects(readLockfile(root), { name: 'InstallError', message: /is not a file/ });
});

const { signal } = new AbortController();

test('lock: excludes other processes, also while this one waits for it', async (t) => {
  const target = await aFolder(t);
  const first = await lockTarget(target, signal);
  const giveUp = new AbortController();
  const second = lockTarget(target, giveUp.signal);
  const other = startHolder(t, target);
  const isTaken = await Promise.race([once(other.stdout ?? other, 'data').then(() => true), sleep(1_500, false)]);
  assert.equal(isTaken, false, 'the other process waits');
  giveUp.abort();
  await assert.rejects(second, { name: 'AbortError' });
  first.close();
  await once(other.stdout ?? other, 'data');
  assert.equal((await readFile(join(target, '.hub/lock'))).length, 0);
});

test('lock: links, folders and non-empty files are not locks', async (t) => {
  const locks: [(path: string, outside: string) => Promise<void>, RegExp][] = [
    [(path, outside) => symlink(join(outside, 'file'), path), /link/],
    [(path) => mkdir(path).then(() => {}), /'\.hub\/lock' cannot be locked/],
    [(path) => writeFile(path, 'x'.repeat(2_000)), /'\.hub\/lock' cannot be locked/],
  ];
  for (const [make, reason] of locks) {
    const [target, outside] = [await aFolder(t), await aFolder(t)];
    await mkdir(join(target, '.hub'));
    await make(join(target, '.hub/lock'), outside);
    const waiting = createTargetQueue(1)(target, signal, async () => {});
    await assert.rejects(waiting, { code: 'invalid_request', message: reason });
    assert.deepEqual(await readdir(outside), []);
  }
});

function startHolder(t: TestContext, target: string): ChildProcess {
  const script = new URL('../holding-process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, target], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

test('queue: runs one install per target and several targets up to the limit; a failure blocks nobody', async (t) => {
  const targets = await Promise.all(Array.from({ length: 6 }, () => aFolder(t)));
  const queue = createTargetQueue(3);
  const running: string[] = [];
  let most = 0;
  const work = async (target: string) => {
    assert.ok(!running.includes(target) && running.push(target) <= 3);
    most = Math.max(most, running.length);
    await until(() => most === 3);
    running.splice(running.indexOf(target), 1);
    throw new Error('failed');
  };
  const run = (target: string) => queue(target, signal, () => work(target));
  const twice = targets.flatMap((target) => [target, target]);
  await Promise.all(twice.map((target) => assert.rejects(run(target), { message: 'failed' })));
  assert.equal(await queue(targets[0] ?? '', signal, async () => 'next'), 'next');
});

test('queue: waits for a target that another process holds until that process is killed', async (t) => {
  const target = await aFolder(t);
  const child = startHolder(t, target);
  await once(child.stdout ?? child, 'data');
  let isDone = false;
  const waiting = createTargetQueue(1)(target, signal, async () => {
    isDone = true;
  });
  await sleep(500);
  assert.equal(isDone, false, 'it waits');
  child.kill('SIGKILL');
  await waiting;
  assert.equal(isDone, true);
});

test('queue: a stop releases waiting callers', async (t) => {
  const target = await aFolder(t);
  const [one, other] = [createTargetQueue(1), createTargetQueue(1)];
  const release = Promise.withResolvers<void>();
  const isHeld = Promise.withResolvers<void>();
  const holding = one(target, signal, () => {
    isHeld.resolve();
    return release.promise;
  });
  await isHeld.promise;
  const stopping = new AbortController();
  const waiting = other(target, stopping.signal, async () => {});
  setTimeout(() => stopping.abort(), 100);
  await assert.rejects(waiting, { name: 'AbortError' });
  release.resolve();
  await holding;
});

test('queue: removes what a killed install was building and writing', async (t) => {
  const target = await aFolder(t);
  const queue = createTargetQueue(1);
  await queue(target, signal, async () => {});
  const script = `
    const { syncBuiltinESMExports } = await import('node:module');
    const fs = (await import('node:fs/promises')).default;
    fs.rename = () => process.kill(process.pid, 'SIGKILL');
    syncBuiltinESMExports();
    const { writeFileInside } = await import(process.argv[1]);
    await writeFileInside(process.argv[2], 'a/file', 'text');`;
  const files = new URL('../../../src/install/target/files.ts', import.meta.url).href;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, files, target]);
  const [, killedBy] = await once(child, 'exit');
  assert.equal(killedBy, 'SIGKILL');
  assert.deepEqual(await readdir(join(target, 'a')), []);
  await mkdir(join(target, `.hub/staging/${randomUUID()}/deep`), { recursive: true });
  await queue(target, signal, async () => {});
  assert.deepEqual((await readdir(join(target, '.hub'))).toSorted(), ['.gitignore', 'lock']);
});
