import assert from 'node:assert/strict';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { aManifest } from '../test/support/builders.ts';
import { startIndexServer } from '../test/support/servers/index-server.ts';
import { axeFindings, browserTest, drawn, screenshot, until } from './stage/stage.ts';

const TOKEN = 'token-of-an-admin';
const root = await realpath(await mkdtemp(join(tmpdir(), 'hub-page-install-')));
process.on('exit', () => void rm(root, { recursive: true, force: true }));

const settings = { API_TOKEN: TOKEN, INSTALL_ROOT: root };
const remote = aManifest({
  artifacts: [{ kind: 'other', spec: { transport: 'SSE', url: 'https://pdf.example.org/mcp' } }],
  adapters: [{ framework: 'claude', template_key: 'mcp' }],
  mcp_registration: { server: { transport: 'SSE', url: 'https://pdf.example.org/mcp' } },
});
const faulty = aManifest({
  id: 'faulty',
  name: 'faulty',
  artifacts: [{ kind: 'pypi', spec: { package: '../test/evil' } }],
});
const twofold = aManifest({
  id: 'twofold',
  name: 'twofold',
  packages: [
    { registryType: 'npm', identifier: 'pdf-tables', version: '1.0.0', transport: { type: 'stdio' } },
    { registryType: 'pypi', identifier: 'pdf-tables-py', version: '1.0.0', transport: { type: 'stdio' } },
  ],
  artifacts: [
    { kind: 'npm', spec: { package: 'pdf-tables', version: '1.0.0' } },
    { kind: 'pypi', spec: { package: 'pdf-tables-py', version: '1.0.0' } },
  ],
});
const broken = aManifest({
  id: 'broken',
  name: 'broken',
  artifacts: [{ kind: 'zip', spec: { url: 'http://127.0.0.1:9/none.zip' } }],
});
const PDF = '/entities/mcp_server:pdf-tables@1.0.0';

// Each test installs into a separate folder.
const guarded = { settings, manifests: [remote], isShared: true };
const unguarded = {
  settings: { INSTALL_ROOT: root },
  manifests: [remote, faulty, twofold, broken],
  isShared: true,
};

browserTest('install: the search shortcut does nothing while the dialog is open', guarded, async ({ open }) => {
  const page = await open(PDF);
  await page.getByRole('button', { name: 'Install on the hub' }).click();
  const dialog = page.getByRole('dialog', { name: 'Install PDF Tables' });
  await dialog.getByRole('button', { name: 'Close' }).focus();
  await page.keyboard.press('/');
  // The shortcut acts at once and renders with the next frame.
  await drawn(page);
  assert.ok(await dialog.isVisible());
  assert.match(page.url(), /pdf-tables/);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await page.keyboard.press('/');
  await page.waitForURL((url) => url.pathname === '/');
});

browserTest(
  'install: asks for the token once, shows the plan, the steps and the lockfile',
  guarded,
  async ({ open }) => {
    const page = await open(PDF, { expects: /401/, reducedMotion: 'reduce', bypassCSP: true });
    await page.getByRole('button', { name: 'Install on the hub' }).click();
    const dialog = page.getByRole('dialog', { name: 'Install PDF Tables' });
    const assertAccessible = async (step: string) => assert.deepEqual(await axeFindings(page), [], step);

    await dialog.getByLabel('Token', { exact: true }).fill('a wrong one');
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.getByText('The hub does not accept this token.').waitFor();
    await assertAccessible('the token');
    await dialog.getByLabel('Token', { exact: true }).fill(TOKEN);
    await dialog.getByRole('button', { name: 'Sign in' }).click();

    await dialog.getByLabel('Folder on the hub’s machine').fill('project');
    await assertAccessible('the folder');
    await dialog.getByRole('button', { name: 'Show the plan' }).click();
    await dialog.getByText('This hub has no gateway.').waitFor();
    assert.match(await dialog.innerText(), /\.mcp\.json/);
    await assert.rejects(readFile(join(root, 'project', 'hub.lock.json')), 'a plan changes nothing');
    await screenshot(page, 'install-plan');

    await dialog.getByRole('button', { name: 'Install', exact: true }).click();
    await dialog.getByText('Installed;').waitFor();
    await dialog.getByText('In the folder project on the hub’s machine:').waitFor();
    const steps = await dialog.locator('.step').allInnerTexts();
    assert.deepEqual(
      steps.map((step) => /[a-z]+\.[a-z]+/.exec(step)?.[0]),
      ['remote.skip', 'adapters.write', 'gateway.register', 'lockfile.write'],
    );
    assert.ok(
      steps.some((step) => /\d+(\.\d)? m?s/.test(step)),
      'steps show their duration',
    );
    await screenshot(page, 'install-done');
    await assertAccessible('the end');

    const lockfile = JSON.parse(await readFile(join(root, 'project', 'hub.lock.json'), 'utf8'));
    assert.deepEqual(JSON.parse((await dialog.locator('.copy-box code').textContent()) ?? ''), lockfile);
    assert.equal(lockfile.entities[0].id, 'mcp_server:pdf-tables@1.0.0');

    await dialog.getByRole('button', { name: 'Done' }).click();
    // The focus has returned to the button.
    await until(page, 'document.activeElement.textContent === "Install on the hub’s machine…"');
    await page.reload();
    await page.getByRole('button', { name: 'Install on the hub' }).click();
    await dialog.getByLabel('Folder on the hub’s machine').waitFor();
    assert.equal(await page.evaluate('sessionStorage.getItem("hub.token")'), TOKEN);
    assert.ok(
      !((await page.evaluate('JSON.stringify(localStorage) + document.cookie + location.href')) as string).includes(
        TOKEN,
      ),
    );
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
  },
);

browserTest('install: steps are shown while they run', unguarded, async ({ open }) => {
  const page = await open(PDF);
  // The stream of the hub, paused in the middle.
  await page.addInitScript(`
    const real = window.fetch;
    window.fetch = async (path, options) => {
      const response = await real(path, options);
      if (options?.headers?.accept !== 'text/event-stream') return response;
      const text = await response.text();
      const half = text.indexOf('event:', text.indexOf('"started"'));
      const encoder = new TextEncoder();
      const body = new ReadableStream({ start(stream) {
        stream.enqueue(encoder.encode(text.slice(0, half)));
        window.finish = () => { stream.enqueue(encoder.encode(text.slice(half))); stream.close(); };
      } });
      return new Response(body, response);
    };`);
  await page.reload();
  await page.getByRole('button', { name: 'Install on the hub' }).click();
  await page.getByLabel('Folder on the hub’s machine').fill('slow');
  await page.getByRole('button', { name: 'Show the plan' }).click();
  await page.getByRole('button', { name: 'Install', exact: true }).click();
  const running = page.locator('.step-running');
  await running.waitFor();
  const [before] = await running.locator('.step-time').allInnerTexts();
  await until(page, `document.querySelector('.step-running .step-time').innerText !== ${JSON.stringify(before)}`);
  await page.evaluate('window.finish()');
  await page.getByText('Installed;').waitFor();
  assert.equal(await running.count(), 0);
});

browserTest(
  'install: a token refused midway is requested again, and the install follows the plan',
  guarded,
  async ({ open }) => {
    const page = await open(PDF, { expects: /401/ });
    const dialog = page.getByRole('dialog');
    const giveToken = async () => {
      await dialog.getByLabel('Token', { exact: true }).fill(TOKEN);
      await dialog.getByRole('button', { name: 'Sign in' }).click();
    };
    const refuseNext = () =>
      page.route(
        /catalog\/install/,
        (route) => route.fulfill({ status: 401, contentType: 'application/problem+json', body: '{"status":401}' }),
        { times: 1 },
      );
    await page.getByRole('button', { name: 'Install on the hub' }).click();
    await giveToken();
    await dialog.getByLabel('Folder on the hub’s machine').fill('asked-again');
    await refuseNext();
    await dialog.getByRole('button', { name: 'Show the plan' }).click();
    await giveToken();
    assert.equal(await dialog.getByLabel('Folder on the hub’s machine').inputValue(), 'asked-again');
    await dialog.getByRole('button', { name: 'Show the plan' }).click();
    await dialog.getByText('Into the folder asked-again on the hub’s machine:').waitFor();
    await refuseNext();
    await dialog.getByRole('button', { name: 'Install', exact: true }).click();
    await dialog.getByRole('alert').getByText('no longer accepts the token').waitFor();
    await screenshot(page, 'install-token-again');
    await giveToken();
    await dialog.getByText('Into the folder asked-again on the hub’s machine:').waitFor();
    await dialog.getByRole('button', { name: 'Install', exact: true }).click();
    await dialog.getByText('Installed;').waitFor();
    await readFile(join(root, 'asked-again', 'hub.lock.json'));
    await assert.rejects(readFile(join(root, 'hub.lock.json')), 'nothing is written outside the plan');

    await dialog.getByRole('button', { name: 'Sign out' }).click();
    assert.ok(await dialog.getByText('Installed;').isVisible(), 'completed steps stay on screen');
    assert.equal(await page.evaluate('sessionStorage.length'), 0);
  },
);

browserTest('install: the focus follows the work, by keyboard alone', guarded, async ({ open }) => {
  const page = await open(PDF);
  const hasFocus = (words: string) =>
    until(
      page,
      `document.activeElement !== document.body && document.activeElement.textContent.startsWith('${words}')`,
    );
  await page.getByRole('button', { name: 'Install on the hub' }).focus();
  await page.keyboard.press('Enter');
  await page.locator('dialog input[type=password]:focus').waitFor();
  await page.keyboard.type(TOKEN);
  await page.keyboard.press('Enter');
  const folder = page.getByLabel('Folder on the hub’s machine');
  await page.locator('dialog input:not([type=password]):focus').waitFor();
  await page.keyboard.type('by-keyboard');
  assert.equal(await folder.inputValue(), 'by-keyboard');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await hasFocus('Into the folder by-keyboard');
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route(/catalog\/install/, async (route) => {
    await answered;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Install', exact: true }).focus();
  await page.keyboard.press('Enter');
  await hasFocus('Closing this window');
  answer();
  await hasFocus('Installed;');
  await page.getByText('Signed in as API_TOKEN (admin)').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).focus();
  await page.keyboard.press('Enter');
  await hasFocus('Done');
});

browserTest('install: distinguishes errors of the page from errors of the hub', unguarded, async ({ open }) => {
  const page = await open(PDF, { expects: /error: .*undefined/ });
  const alert = page.getByRole('alert');
  const answerWith = (data: string) =>
    page.route(
      /catalog\/install/,
      (route) => route.fulfill({ contentType: 'text/event-stream', body: `event: progress\ndata: ${data}\n\n` }),
      { times: 1 },
    );
  await page.getByRole('button', { name: 'Install on the hub' }).click();
  await page.getByLabel('Folder on the hub’s machine').fill('project');
  await page.getByRole('button', { name: 'Show the plan' }).click();
  const install = page.getByRole('button', { name: 'Install', exact: true });
  await install.waitFor();

  await answerWith('{"kind":"finished"}');
  await install.click();
  await alert.getByText('This page failed').waitFor();
  assert.doesNotMatch((await alert.textContent()) ?? '', /does not answer/);

  await answerWith('{"kind":');
  await install.click();
  await alert.getByText('The response is not from the hub').waitFor();
  assert.doesNotMatch((await alert.textContent()) ?? '', /does not answer|This page failed/);
});

browserTest('install: the plan already shows what will fail', unguarded, async ({ open }) => {
  const page = await open('/entities/mcp_server:faulty@1.0.0');
  await page.getByRole('button', { name: 'Install on the hub' }).click();
  await page.getByLabel('Folder on the hub’s machine').fill('project');
  await page.getByRole('button', { name: 'Show the plan' }).click();
  await page.locator('.plan').getByText('This will fail:').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Install', exact: true }).isDisabled());
  await screenshot(page, 'install-plan-faulty');
});

browserTest('install: the plan says which of several packages are not installed', unguarded, async ({ open }) => {
  const page = await open('/entities/mcp_server:twofold@1.0.0', { reducedMotion: 'reduce', bypassCSP: true });
  await page.getByRole('button', { name: 'Install on the hub' }).click();
  await page.getByLabel('Folder on the hub’s machine').fill('twofold');
  await page.getByRole('button', { name: 'Show the plan' }).click();
  const alternatives = page.locator('.plan li', { hasText: 'Alternative, not installed' });
  await alternatives.first().waitFor();
  assert.equal(await alternatives.count(), 1);
  assert.ok(await page.getByRole('button', { name: 'Install', exact: true }).isEnabled());
  assert.deepEqual(await axeFindings(page), []);
  await screenshot(page, 'install-plan-alternative');
});

browserTest('install: a folder that is not allowed is reported and can be changed', unguarded, async ({ open }) => {
  const page = await open(PDF, { expects: /400/ });
  await page.getByRole('button', { name: 'Install on the hub' }).click();
  await page.getByLabel('Folder on the hub’s machine').fill('../test/elsewhere');
  await page.getByRole('button', { name: 'Show the plan' }).click();
  await page.getByRole('alert').getByText('Choose a folder inside INSTALL_ROOT').waitFor();
  await until(page, 'document.activeElement.textContent === "Show the plan"');
  await page.getByLabel('Folder on the hub’s machine').fill('allowed');
  await page.getByRole('button', { name: 'Show the plan' }).click();
  await page.locator('.plan').waitFor();
  await page.getByRole('button', { name: 'Another folder' }).click();
  assert.equal(await page.getByLabel('Folder on the hub’s machine').inputValue(), 'allowed');
});

browserTest(
  'install: refuses the hub’s own folder, and another can be entered',
  { manifests: [remote] },
  async ({ open }) => {
    const page = await open(PDF, { expects: /400/ });
    await page.getByRole('button', { name: 'Install on the hub' }).click();
    await page.getByLabel('Folder on the hub’s machine').fill(resolve(import.meta.dirname, '..'));
    await page.getByRole('button', { name: 'Show the plan' }).click();
    await page.getByRole('alert').getByText("the hub's own program").first().waitFor();
    assert.equal(await page.getByRole('button', { name: 'Install', exact: true }).count(), 0);
    assert.ok(await page.getByRole('button', { name: 'Show the plan' }).isEnabled());
  },
);

const local = aManifest({ mcp_registration: { server: { transport: 'STDIO', exec: { cmd: ['uvx', 'local'] } } } });

browserTest(
  'install: a server without an address skips the gateway without a failure',
  { manifests: [local], settings: { INSTALL_ROOT: root, MCP_GATEWAY_URL: 'http://127.0.0.1:9' } },
  async ({ open }) => {
    const page = await open(PDF);
    await page.getByRole('button', { name: 'Install on the hub' }).click();
    await page.getByLabel('Folder on the hub’s machine').fill('local');
    await page.getByRole('button', { name: 'Show the plan' }).click();
    await page.locator('.plan').getByText('It runs as a local process (stdio) and has no address').waitFor();
    assert.equal(await page.locator('.plan').getByText('Register with the gateway').count(), 0);
    await page.getByRole('button', { name: 'Install', exact: true }).click();
    await page.getByText('Installed;').waitFor();
    assert.equal(await page.locator('.step-bad').count(), 0);
    assert.match(await page.locator('.step-skipped').last().innerText(), /Not for the gateway\. It runs as a local/);
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0);
    await screenshot(page, 'install-not-for-gateway');
  },
);

browserTest('install: a failed step says why, and nothing is installed', unguarded, async ({ open }) => {
  const page = await open('/entities/mcp_server:broken@1.0.0');
  await page.getByRole('button', { name: 'Install on the hub' }).click();
  await page.getByLabel('Folder on the hub’s machine').fill('broken');
  await page.getByRole('button', { name: 'Show the plan' }).click();
  await page.getByRole('button', { name: 'Install', exact: true }).click();
  await page.getByText('Nothing was installed').waitFor();
  const failed = page.locator('.step-bad').first();
  assert.match(await failed.innerText(), /zip\.extract/);
  await assert.rejects(readFile(join(root, 'broken', 'hub.lock.json')), 'no lockfile is shown');
  assert.ok(((await failed.locator('.step-note').textContent()) ?? '').length > 10, 'it says why');

  const again = page.waitForRequest((request) => /catalog\/install/.test(request.url()));
  await page.getByRole('button', { name: 'Try again' }).click();
  assert.partialDeepStrictEqual((await again).postDataJSON(), { target: 'broken' });
  await page.getByText('Nothing was installed').waitFor();
  await screenshot(page, 'install-failed');

  await page.setViewportSize({ width: 1280, height: 450 });
  const isInView = `(() => {
      const end = (selector) => document.querySelector(selector).getBoundingClientRect().bottom;
      const isAtEdge = Math.abs(end('dialog') - end('.dialog-foot')) < 3;
      return isAtEdge && end('.dialog-foot .button-main') <= innerHeight;
    })()`;
  assert.ok(await page.evaluate('document.querySelector("dialog").scrollHeight > innerHeight'), 'more than fits');
  await until(page, isInView);
});

browserTest(
  'install: the plan and the report warn about an entry that no remote lists',
  { settings: { INSTALL_ROOT: root } },
  async ({ open, hub }, t) => {
    const host = await startIndexServer(t);
    host.put('/index.json', { manifests: [{ manifest: remote }] });
    await hub.addRemote(host.url('/index.json'));
    await hub.syncRemotes();
    await hub.removeRemote(host.url('/index.json'));
    const page = await open(PDF, { reducedMotion: 'reduce', bypassCSP: true });
    await page.getByRole('button', { name: 'Install on the hub' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Folder on the hub’s machine').fill('unlisted');
    await dialog.getByRole('button', { name: 'Show the plan' }).click();
    await dialog.getByText('Warning No remote has listed this version since').waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await screenshot(page, 'install-plan-warning');
    await dialog.getByRole('button', { name: 'Install', exact: true }).click();
    await dialog.getByText('Installed;').waitFor();
    await dialog.getByText('Warning No remote has listed this version since').waitFor();
    await screenshot(page, 'install-warning');
  },
);

const STEPS = {
  'pypi.install': 'Install the Python package',
  'npm.install': 'Install the npm package',
  'oci.pull': 'Pull the image',
  'git.checkout': 'Check out the repository',
  'zip.extract': 'Fetch and unpack the archive',
  'mcpb.extract': 'Fetch and unpack the bundle',
  'artifacts.place': 'Move the artifacts into place',
  'lockfile.write': 'Write the lockfile',
};

browserTest('install: every step has a label, and its warning is shown', unguarded, async ({ open }) => {
  const page = await open(PDF);
  await page.getByRole('button', { name: 'Install on the hub' }).click();
  await page.getByLabel('Folder on the hub’s machine').fill('project');
  await page.getByRole('button', { name: 'Show the plan' }).click();
  await page.route(/catalog\/install/, async (route) => {
    const warned = (step: string) => ({ step, ok: true, extra: { warning: `A warning of ${step}.` } });
    const result = {
      ok: false,
      dry_run: false,
      target: 'project',
      warnings: [],
      results: Object.keys(STEPS).map(warned),
      files_written: ['hub.lock.json'],
      lockfile: { version: 1, entities: [] },
    };
    await route.fulfill({
      contentType: 'text/event-stream',
      body: `event: result\ndata: ${JSON.stringify(result)}\n\n`,
    });
  });
  await page.getByRole('button', { name: 'Install', exact: true }).click();
  await page.getByText('Not everything was installed').waitFor();
  for (const [step, label] of Object.entries(STEPS)) {
    const shown = page.locator('.step', { hasText: label });
    await shown.getByText(step, { exact: true }).waitFor();
    await shown.getByText(`A warning of ${step}.`).waitFor();
  }
});

browserTest('install: the folder field is empty and has the focus', unguarded, async ({ open }) => {
  const page = await open(PDF);
  await page.getByRole('button', { name: 'Install on the hub' }).click();
  const folder = page.getByLabel('Folder on the hub’s machine');
  await until(page, 'document.activeElement.tagName === "INPUT"');
  assert.equal(await folder.inputValue(), '');
  page.forget();
  await page.getByRole('button', { name: 'Show the plan' }).click();
  await until(page, 'document.activeElement.matches("input:invalid")');
  assert.deepEqual(page.asked('/catalog/install'), []);
  await page.keyboard.type('typed');
  await page.keyboard.press('Enter');
  await page.getByText('Into the folder typed on the hub’s machine:').waitFor();
});
