import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { checkTarget, prepareTarget, targetFault } from '../../src/install/target/target.ts';

const BAD_TEXTS = { empty: '', blank: '  ', NUL: 'a\u0000b', 'a line end': 'a\nb', 'too long': 'x/'.repeat(2000) };

for (const [name, target] of Object.entries(BAD_TEXTS)) {
  test(`target: ${name} is refused`, async (t) => {
    const workingDir = await folder(t);
    await assert.rejects(prepareTarget(target, { installRoot: undefined, workingDir }), {
      name: 'HubError',
      code: 'invalid_request',
      message: /target: must not/,
    });
    assert.deepEqual(await readdir(workingDir), []);
  });
}

test('target: relative to the working folder without a root, and to the root with one; made when it is not there', async (t) => {
  const [workingDir, installRoot] = [await folder(t), await folder(t)];
  assert.equal(await prepareTarget('a/b', { installRoot: undefined, workingDir }), join(workingDir, 'a/b'));
  assert.equal(await prepareTarget('a/b', { installRoot, workingDir }), join(installRoot, 'a/b'));
  assert.equal(await prepareTarget('.', { installRoot, workingDir }), installRoot);
  assert.equal(await prepareTarget('~', { installRoot, workingDir }), join(installRoot, '~'), 'no shell here');
  assert.equal(await prepareTarget(join(installRoot, 'abs'), { installRoot, workingDir }), join(installRoot, 'abs'));
  assert.equal(await prepareTarget('x/../y', { installRoot, workingDir }), join(installRoot, 'y'));
});

test('target: a look makes nothing', async (t) => {
  const [workingDir, installRoot] = [await folder(t), await folder(t)];
  assert.equal(await checkTarget('a/b', { installRoot, workingDir }), join(installRoot, 'a/b'));
  assert.deepEqual(await readdir(installRoot), []);

  const later = join(workingDir, 'not/there/yet');
  assert.equal(await checkTarget('a', { installRoot: later, workingDir }), join(later, 'a'));
  await assert.rejects(checkTarget('../a', { installRoot: later, workingDir }), /INSTALL_ROOT/);
  assert.deepEqual(await readdir(workingDir), []);
  assert.equal(await prepareTarget('a', { installRoot: later, workingDir }), join(later, 'a'));
});

test('target: INSTALL_ROOT holds against .., absolute paths and links', async (t) => {
  const [outside, installRoot, workingDir] = [await folder(t), await folder(t), await folder(t)];
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

test('target: a root that is itself behind a link is no way out, and works', async (t) => {
  const [place, workingDir] = [await folder(t), await folder(t)];
  await mkdir(join(place, 'real'));
  await symlink('real', join(place, 'root'));
  const rule = { installRoot: join(place, 'root'), workingDir };
  assert.equal(await prepareTarget('a', rule), join(place, 'real/a'));
  await assert.rejects(prepareTarget('../x', rule), /INSTALL_ROOT/);
});

test('target: a file where the folder should be, or above it, is told', async (t) => {
  const workingDir = await folder(t);
  await writeFile(join(workingDir, 'file'), 'text');
  const rule = { installRoot: undefined, workingDir };
  await assert.rejects(prepareTarget('file', rule), /target: is a file, and must be a folder/);
  await assert.rejects(prepareTarget('file/below', rule), /A file is where a folder should be/);
  await assert.rejects(checkTarget('file/below', rule), { code: 'invalid_request' });
});

test('target: a place where no folder can be made is told, and what to do', {
  skip: process.platform === 'linux' ? false : 'only Linux has /proc',
}, async () => {
  const rule = { installRoot: undefined, workingDir: '/' };
  await assert.rejects(prepareTarget('/proc/x', rule), {
    code: 'invalid_request',
    message: 'The target cannot be used. The system keeps no files there: choose another target.',
  });
});

test('target: no permission is told without paths of the machine', async (t) => {
  const workingDir = await folder(t);
  await mkdir(join(workingDir, 'closed'));
  await chmod(workingDir, 0o755);
  await chmod(join(workingDir, 'closed'), 0o555);
  await asOrdinaryUser(async () => {
    const error = await prepareTarget('closed/a', { installRoot: undefined, workingDir }).catch(
      (reason: Error) => reason,
    );
    assert.match((error as Error).message, /may not write there: give its user permission/);
    assert.ok(!(error as Error).message.includes(workingDir));
  });
});

test('target: a look tells what could not be made or written, and the install is refused for the same', async (t) => {
  const workingDir = await folder(t);
  await chmod(workingDir, 0o755);
  await mkdir(join(workingDir, 'closed'));
  await chmod(join(workingDir, 'closed'), 0o555);
  await mkdir(join(workingDir, 'open'));
  await chmod(join(workingDir, 'open'), 0o777);
  const told = await asOrdinaryProcess(workingDir, ['open/a/b', 'closed', 'closed/a/b']);
  const fault =
    'The target cannot be used. The hub may not write there: give its user permission, or choose another target.';
  assert.deepEqual(told, [
    { seen: null, made: [], refused: null },
    { seen: fault, made: [], refused: fault },
    { seen: fault, made: [], refused: fault },
  ]);
});

test('target: where the system keeps no files, a look says so, also to root', {
  skip: process.platform === 'linux' ? false : 'only Linux has /proc',
}, async () => {
  for (const target of ['/proc/x', '/proc'])
    assert.match(
      String(await targetFault(target, { installRoot: undefined, workingDir: '/' })),
      /^The target cannot be used\. .*choose another target\.$/,
    );
});

interface Told {
  seen: string | null;
  /** By the look. */
  made: string[];
  refused: string | null;
}

/**
 * In a process of its own: whether a file may be written is asked for the real user, which cannot be changed back. It
 * becomes an ordinary one only after its imports, as others may be kept out of the folder that these tests are in.
 */
async function asOrdinaryProcess(workingDir: string, targets: string[]): Promise<Told[]> {
  const script = `
    import { readdirSync } from 'node:fs';
    import { prepareTarget, targetFault } from '${new URL('../../src/install/target/target.ts', import.meta.url).href}';
    if (process.geteuid?.() === 0) {
      process.setgroups([]);
      process.setgid(65_534);
      process.setuid(65_534);
    }
    const rule = ${JSON.stringify({ workingDir })};
    const told = [];
    for (const target of ${JSON.stringify(targets)}) {
      const seen = (await targetFault(target, rule)) ?? null;
      const made = readdirSync(rule.workingDir + '/' + target.split('/')[0]);
      const refused = await prepareTarget(target, rule).then(() => null, ({ message }) => message);
      told.push({ seen, made, refused });
    }
    console.log(JSON.stringify(told));`;
  const args = ['--input-type=module', '-e', script];
  return JSON.parse((await promisify(execFile)(process.execPath, args, { cwd: '/' })).stdout);
}

/** Nothing is forbidden to root. */
async function asOrdinaryUser(work: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(65_534);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
  }
}

async function folder(t: TestContext): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'hub-target-')));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}
