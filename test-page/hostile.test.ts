import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { JsonObject } from '../src/lib/json.ts';
import { aManifest } from '../test/support/builders.ts';
import { startIndexServer } from '../test/support/servers/index-server.ts';
import { HOSTILE_READMES } from '../test/web/hostile-readmes.ts';
import { browserTest } from './stage/stage.ts';

/** Payloads that would run if the page treated them as more than text. */
const SCRIPT = 'window.pwned=1;alert(1)';
const PAYLOADS = [
  `<script>${SCRIPT}</script>`,
  `<img src=x onerror="${SCRIPT}">`,
  `<svg onload="${SCRIPT}"><animate onbegin="${SCRIPT}" attributeName=x dur=1s>`,
  `"><iframe srcdoc="<script>parent.${SCRIPT}</script>"></iframe>`,
  `' autofocus onfocus='${SCRIPT}' x='`,
  `javascript:${SCRIPT}`,
  `</title></textarea></style><details open ontoggle="${SCRIPT}">`,
  `{{constructor.constructor('${SCRIPT}')()}}\${${SCRIPT}}`,
  '<base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example/">',
  '<link rel=stylesheet href=https://evil.example/x.css><style>@import "https://evil.example/y.css";*{display:none}</style>',
  '__proto__',
  '\u202e\u2066reversed\u2069\u0000\ud800',
];
const LINKS = [
  `javascript:${SCRIPT}`,
  `JaVa\tScRiPt:${SCRIPT}`,
  `data:text/html,<script>${SCRIPT}</script>`,
  'vbscript:x',
  '//evil.example/x',
  'https://hub.example@evil.example/',
];
const REPOSITORIES = ['https://constructor/a/b', 'https://__proto__/a/b', 'javascript:alert(1)//github.com/a/b'];
const README = [
  '[a file beside it](docs/x.md)',
  ...PAYLOADS,
  ...LINKS.map((link) => `[click](${link}) <a href="${link}">there</a> ![picture](${link})`),
  '[![badge](https://evil.example/badge.png)](javascript:alert(1))',
  '[ref]: javascript:alert(1)\n[ref]\n<javascript:alert(1)> <https://evil.example/" onmouseover="alert(1)>',
  `\`\`\`html\n${PAYLOADS[0]}\n\`\`\``,
  `| ${PAYLOADS[1]} |\n|---|\n| [x](javascript:alert(1)) |`,
  `# ${PAYLOADS[2]}\n> ${PAYLOADS[3]}\n- ${PAYLOADS[4]}`,
].join('\n\n');

const TYPES = ['mcp_server', 'tool', 'agent'];

function hostileManifest(payload: string, index: number): JsonObject {
  const link = LINKS[index % LINKS.length] ?? '';
  return aManifest({
    type: TYPES[index % TYPES.length],
    id: `hostile-${index}${payload.replaceAll(/[\s/]+/gu, '').replaceAll(/[^ -~]/g, '')}`,
    name: `hostile ${payload}`,
    title: `Hostile ${payload}`,
    summary: payload,
    description: `${payload} ${README}`,
    license: payload,
    homepage: link,
    readme: README,
    tags: [payload, 'hostile'],
    capabilities: [payload],
    compatibility: { frameworks: [payload], providers: [payload] },
    lifecycle: { status: index % 2 ? 'deprecated' : 'active', reason: payload },
    links: {
      ...Object.fromEntries(LINKS.map((each, at) => [`${payload}${at}`, each])),
      repository: REPOSITORIES[index % REPOSITORIES.length],
    },
    artifacts: [{ kind: payload, spec: { [payload]: payload, package: payload, url: link } }],
    adapters: [{ framework: payload, template_key: payload, path: payload }],
    provenance: { [payload]: payload, source: link },
    mcp_registration: { server: { name: payload, transport: 'SSE', url: link, exec: { cmd: [payload] } } },
  });
}

const manifests = PAYLOADS.map(hostileManifest);
const hostile = { manifests, isShared: true };

/** Asserts that every element, handler and address belongs to the page. */
async function assertHarmless(page: Page): Promise<void> {
  assert.equal(await page.evaluate('window.pwned'), undefined);
  const foreign = await page.evaluate(`(() => {
    const found = [];
    for (const element of document.querySelectorAll('*')) {
      if (['IFRAME', 'OBJECT', 'EMBED', 'BASE', 'FRAME', 'AUDIO', 'VIDEO', 'ANIMATE', 'STYLE'].includes(element.tagName.toUpperCase())) found.push(element.outerHTML);
      for (const { name, value } of element.attributes) {
        if (name.startsWith('on') || name === 'srcdoc' || name === 'style') found.push(element.outerHTML);
        if (['href', 'src', 'action', 'formaction', 'xlink:href'].includes(name) && !/^(https?:|mailto:|[/.#])/.test(value)) found.push(element.outerHTML);
        if (['href', 'src'].includes(name) && /^\\/\\//.test(value)) found.push(element.outerHTML);
      }
    }
    if (document.scripts.length !== 1 || document.images.length !== 0) found.push('scripts or pictures');
    return found;
  })()`);
  assert.deepEqual(foreign, []);
}

for (const bypassCSP of [false, true]) {
  const guard = bypassCSP ? 'without its policy' : 'with its policy';

  browserTest(`hostile catalog: search shows it as text, ${guard}`, hostile, async ({ open }) => {
    const page = await open('/?show=100&include_inactive=true', { bypassCSP });
    await page
      .locator('.result-title')
      .nth(PAYLOADS.length - 1)
      .waitFor();
    await page.locator('.filter .choice-count').first().waitFor();
    await assertHarmless(page);
    for (const payload of [PAYLOADS[0], PAYLOADS[1], PAYLOADS[7], 'hostile']) {
      await page.getByRole('searchbox').fill(payload ?? '');
      await page.getByText('for “').or(page.getByText('Nothing found')).first().waitFor();
      await assertHarmless(page);
    }
    const query = new URLSearchParams({
      q: PAYLOADS[3] ?? '',
      frameworks: PAYLOADS[1] ?? '',
      capabilities: PAYLOADS[4] ?? '',
    });
    await page.goto(`${new URL(page.url()).origin}/?${query}`);
    await page.getByText('Nothing found').or(page.locator('.result-title')).first().waitFor();
    await assertHarmless(page);
  });

  browserTest(`hostile catalog: every entity is shown as text, ${guard}`, hostile, async ({ open, hub, origin }) => {
    const { items } = await hub.listCatalog({ text: '', sort: 'name', limit: 100, offset: 0 });
    assert.equal(items.length, PAYLOADS.length);
    const page = await open('/operations', { bypassCSP });
    // The page is safe without its policy; a few entities show that the policy is not violated.
    for (const { id } of bypassCSP ? items : items.slice(0, 2)) {
      await page.goto(`${origin}/entities/${encodeURIComponent(id)}`);
      await page.getByRole('heading', { level: 1, name: 'Hostile' }).waitFor();
      await page.locator('.manifest > summary').click();
      await page.locator('.manifest code').first().waitFor();
      const links = await page.evaluate("[...document.querySelectorAll('.markdown a')].map((link) => link.href)");
      for (const link of links as string[]) assert.match(link, /^https?:/);
      await assertHarmless(page);
    }
  });
}

browserTest('hostile catalog: an install dialog shows its plan as text', hostile, async ({ open, hub, origin }) => {
  const { items } = await hub.listCatalog({ text: 'hostile', sort: 'name', limit: 100, offset: 0 });
  const page = await open('/', { expects: /400/ });
  for (const { id } of items.slice(0, 3)) {
    await page.goto(`${origin}/entities/${encodeURIComponent(id)}`);
    await page.getByRole('button', { name: 'Install on the hub' }).click();
    await page.getByLabel('Folder on the hub’s machine').fill('project');
    await page.getByRole('button', { name: 'Show the plan' }).click();
    await page.locator('.plan').or(page.getByRole('alert')).first().waitFor();
    await assertHarmless(page);
  }
});

browserTest('hostile catalog: operations show it as text', { manifests }, async ({ open, origin }, t) => {
  const host = await startIndexServer(t);
  const index = `/index.json?a=<img/src=x/onerror=${SCRIPT}>`;
  const bad = PAYLOADS.map((payload, index) => ({
    type: payload,
    id: payload,
    url: `${host.origin}/${index}`,
    version: payload,
  }));
  host.put('/index.json', { manifests: [...bad.map((each) => ({ manifest: each })), `javascript:${SCRIPT}`] });
  const page = await open('/operations');
  await page.getByLabel('Address of an index').fill(host.url(index));
  await page.getByRole('button', { name: 'Add' }).click();
  await page.locator('.row-title', { hasText: host.origin }).waitFor();
  await page.getByRole('button', { name: 'Sync all' }).click();
  await page.locator('.notice, .chart').first().waitFor();
  await page.getByText('Refused manifests').click();
  await page.locator('.rejections, .quiet').first().waitFor();
  await page.getByText('Pending servers').waitFor();
  await assertHarmless(page);
  await page.goto(`${origin}/operations?${SCRIPT}#${SCRIPT}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await assertHarmless(page);
});

/** One of each kind that renders differently; `markdown.test.ts` parses them all. */
const DRAWN = [
  'many links',
  'a table with many rows',
  'quotes of every depth',
  'lists within lists',
  'many short lines',
  'one long word',
];
const readmes = DRAWN.map((name, index) =>
  aManifest({ id: `long-${index}`, name: `long-${index}`, title: name, readme: HOSTILE_READMES[name] }),
);
/** As many as a browser renders quickly. */
const MOST_ELEMENTS = 20_000;

browserTest(
  'hostile catalog: a readme of a megabyte renders in part, and its source can be read in full',
  { manifests: readmes },
  async ({ open, origin }) => {
    const page = await open('/');
    for (const [index, name] of DRAWN.entries()) {
      await page.goto(`${origin}/entities/mcp_server:long-${index}@1.0.0`);
      // By selector and text: a search for text alone scans the megabytes repeatedly, on the page's own thread.
      await page.locator('.raw-text > .quiet', { hasText: 'only its beginning is shown' }).waitFor();
      const more = page.locator('.readme-more');
      if (await more.isVisible()) await more.press('Enter');
      await page.locator('.raw-text summary', { hasText: 'Show the full text' }).press('Enter');
      await page.locator('.raw-text .long-text pre').first().waitFor();
      const elements = Number(await page.evaluate("document.querySelectorAll('*').length"));
      assert.ok(elements < MOST_ELEMENTS, `${name}: ${elements} elements`);
      const length = await page.evaluate("document.querySelector('.raw-text .long-text').textContent.length");
      assert.equal(length, (HOSTILE_READMES[name] ?? '').trim().length, name);
    }
  },
);
