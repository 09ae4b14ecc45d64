import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { aManifest } from '../test/support/builders.ts';
import { startIndexServer } from '../test/support/servers/index-server.ts';
import {
  ALL_BUT_COLORS,
  axeFindings,
  browserTest,
  COLORS,
  drawn,
  overflow,
  type Stage,
  screenshot,
} from './stage/stage.ts';

const demo = { demo: true, isShared: true };
const PDF = '/entities/mcp_server:mcp.io-example-docs-pdf-tables.stdio.4c1f07a9be@0.8.3';

/** Every page in a state worth checking. */
const VIEWS: Record<string, { path: string; ready: (page: Page) => Promise<unknown> }> = {
  home: { path: '/', ready: (page) => page.locator('.types-count').first().waitFor() },
  search: { path: '/?q=tables+in+a+pdf', ready: (page) => page.locator('.reason-label').first().waitFor() },
  nothing: { path: '/?q=zzqqxxyy&mode=keyword', ready: (page) => page.getByText('Nothing found').waitFor() },
  entity: { path: PDF, ready: (page) => page.getByRole('heading', { level: 1 }).waitFor() },
  blocked: {
    path: '/entities/mcp_server:pdf-tables@1.0.0',
    ready: (page) => page.getByRole('button', { name: 'Unblock' }).waitFor(),
  },
  deprecated: {
    path: '/entities/mcp_server:wiki-bridge',
    ready: (page) => page.getByText('This version is').waitFor(),
  },
  'not-found': { path: '/entities/tool:none@1', ready: (page) => page.getByText('Entry not found').waitFor() },
  operations: {
    path: '/operations',
    async ready(page) {
      await page.locator('.chart').waitFor();
      await page
        .getByRole('region', { name: /Pending servers/ })
        .locator('.row')
        .first()
        .waitFor();
      await page.getByRole('heading', { name: 'Entries that need attention' }).waitFor();
    },
  },
  install: {
    path: PDF,
    async ready(page) {
      await page.getByRole('button', { name: 'Install on the hub' }).click();
      await page.getByLabel('Folder on the hub’s machine').fill('project');
      await page.getByRole('button', { name: 'Show the plan' }).click();
      await page.locator('.plan').waitFor();
    },
  },
};

const SIZES = {
  wide: { width: 1280, height: 900 },
  phone: { width: 390, height: 844 },
  // A window of 1280 by 900 at a zoom of 200 %.
  zoomed: { width: 640, height: 450 },
};

/** A working remote, a failing one, a refused manifest, and a blocked entry. */
async function fillHub({ hub }: Stage, t: Parameters<typeof startIndexServer>[0]): Promise<void> {
  const host = await startIndexServer(t);
  host.put('/index.json', { manifests: [{ manifest: aManifest() }, { manifest: { type: 'nonsense' } }] });
  for (const path of ['/index.json', '/gone.json']) await hub.addRemote(host.url(path));
  await hub.syncRemotes();
  await hub.blockEntity('mcp_server:pdf-tables@1.0.0', 'Sends files to an unknown host.');
}

browserTest(
  'look: every page is accessible and fits, light and dark, at every size',
  { demo: true },
  async (stage, t) => {
    await fillHub(stage, t);
    const page = await stage.open('/', { reducedMotion: 'reduce', bypassCSP: true, expects: /404/ });
    for (const [name, { path, ready }] of Object.entries(VIEWS)) {
      await page.goto(`${stage.origin}${path}`);
      await ready(page);
      for (const [size, viewport] of Object.entries(SIZES)) {
        await page.setViewportSize(viewport);
        await drawn(page);
        assert.ok((await overflow(page)) <= 0, `${name}, ${size}: nothing has to be scrolled sideways`);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          await screenshot(page, `${name}-${colorScheme}-${size}`);
          const shown = `${name}, ${size}, ${colorScheme}`;
          if (colorScheme === 'light') assert.deepEqual(await axeFindings(page, ALL_BUT_COLORS), [], shown);
          // A narrow window shows a few different things, in the same colors.
          if (size === 'wide' || (size === 'phone' && colorScheme === 'dark'))
            assert.deepEqual(await axeFindings(page, COLORS), [], shown);
        }
      }
    }
  },
);

browserTest(
  'look: the theme follows the device until the user chooses, and the choice stays',
  demo,
  async ({ open }) => {
    const page = await open('/', { colorScheme: 'dark' });
    const paper = () => page.evaluate('getComputedStyle(document.body).backgroundColor') as Promise<string>;
    const dark = await paper();
    const button = page.getByRole('button', { name: /^Theme/ });
    await button.click();
    await page.getByRole('button', { name: 'Theme: light. Change' }).waitFor();
    const light = await paper();
    assert.notEqual(light, dark);
    await page.reload();
    await page.getByRole('button', { name: 'Theme: light. Change' }).waitFor();
    assert.equal(await paper(), light);
    await button.click();
    assert.equal(await paper(), dark);
    await button.click();
    await page.emulateMedia({ colorScheme: 'light' });
    assert.equal(await paper(), light, 'follows the device');
  },
);

browserTest(
  'look: the API description follows the theme of the device and is readable',
  {},
  async ({ open, origin }) => {
    const page = await open('/', { bypassCSP: true });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(`${origin}/docs`);
      await page.locator('[data-path="/catalog/install"]').click();
      await page.locator('.microlight').first().waitFor();
      await screenshot(page, `docs-${colorScheme}`);
      const lightness = await page.evaluate(
        `Number(/\\d+/.exec(getComputedStyle(document.querySelector('.swagger-ui')).backgroundColor)) + Number(/\\d+/.exec(getComputedStyle(document.body).backgroundColor))`,
      );
      assert.ok(colorScheme === 'dark' ? Number(lightness) < 100 : Number(lightness) > 200, String(lightness));
      // Only what the hub can fix: a library renders the rest of the page.
      assert.deepEqual(await axeFindings(page, COLORS), []);
    }
  },
);

browserTest('look: the API description has the header of the other pages', {}, async ({ open }) => {
  const page = await open('/docs');
  await page.getByText('Read agents, tools and MCP servers.').waitFor();
  const pages = page.getByRole('navigation', { name: 'Pages' });
  assert.equal(await pages.getByRole('link', { name: 'API' }).getAttribute('aria-current'), 'page');
  await pages.getByRole('link', { name: 'Search' }).click();
  await page.getByText('The catalog is empty').waitFor();
});

browserTest('look: on a phone the filters are collapsed, and targets are large enough', demo, async ({ open }) => {
  const page = await open('/', { viewport: SIZES.phone, hasTouch: true, isMobile: true });
  await page.locator('.result-title').first().waitFor();
  const title = await page.locator('.result-title').first().boundingBox();
  assert.ok(title && title.y < 450, `the first result is in view: ${title?.y}`);
  const option = page.getByRole('group', { name: 'Framework' }).locator('.choice').first();
  await option.waitFor({ state: 'hidden' });
  await page.getByText('Filters', { exact: true }).tap();
  await page.getByLabel('Sort by').waitFor();
  await page.getByLabel('Search by').waitFor();
  await screenshot(page, 'filters-phone');
  await option.tap();
  await page.waitForURL(/frameworks=/);
  const small =
    await page.evaluate(`[...document.querySelectorAll('button, select, summary, .choice, .types-choice, nav a')]
    .filter((element) => element.checkVisibility()).map((element) => [element.textContent, element.getBoundingClientRect()])
    .filter(([, box]) => box.width < 24 || box.height < 24).map(([text]) => text)`);
  assert.deepEqual(small, []);
});
