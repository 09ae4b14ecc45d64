// A hub with its page open in a browser; unexpected errors and requests fail the test.
import assert from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { readDemoCatalog } from '../../src/cli/demo.ts';
import type { Environment } from '../../src/config.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { atEnd } from '../../test/support/at-end.ts';
import type { Ending } from '../../test/support/databases/databases.ts';
import { type TestHub, testHub } from '../../test/support/hub.ts';
import { skip, startChromium } from './chromium.ts';

const PATIENCE_MS = 60_000;
const ROOT = new URL('../../', import.meta.url);
const SCREENSHOTS = new URL('test-results/web/', ROOT);

let browser: Promise<Browser> | undefined;
atEnd.after(async () => (await browser)?.close());

export interface Stage extends RunningHub {
  /** Opens the page at a path, in a browser without stored data. */
  open(path: string, options?: OpenOptions): Promise<OpenPage>;
}

interface OpenOptions extends BrowserContextOptions {
  /** Expected request failures and refused resources. */
  expects?: RegExp;
}

export interface OpenPage extends Page {
  /** Paths requested from the hub, with queries, since the last `forget`. */
  asked(path: string): string[];
  forget(): void;
}

export interface StageOptions {
  settings?: Environment | ((t: TestContext) => Promise<Environment>);
  manifests?: JsonObject[];
  /** Whether to load the sample catalog. */
  demo?: boolean;
  /** Tests of a file that pass the same object share one hub and must not change it. */
  isShared?: boolean;
}

interface RunningHub extends TestHub {
  origin: string;
}

const sharedHubs = new Map<StageOptions, Promise<RunningHub>>();

function hubFor(options: StageOptions, t: TestContext): Promise<RunningHub> {
  const shared = sharedHubs.get(options);
  if (shared) return shared;
  const running = settingsOf(options, t).then((settings) =>
    startHub({ ...options, settings }, options.isShared ? atEnd : t),
  );
  if (options.isShared) sharedHubs.set(options, running);
  return running;
}

async function settingsOf({ settings }: StageOptions, t: TestContext): Promise<Environment | undefined> {
  return typeof settings === 'function' ? settings(t) : settings;
}

async function startHub(
  { settings, manifests, demo }: StageOptions & { settings?: Environment | undefined },
  t: Ending,
): Promise<RunningHub> {
  await assertFreshBuild();
  const stage = await testHub(t, { settings, manifests });
  if (demo) await stage.hub.load(await readDemoCatalog());
  // Results and their reasons depend on it.
  if (demo) await stage.hub.catchUpSearch();
  return { ...stage, origin: await stage.listen() };
}

export function browserTest(
  name: string,
  options: StageOptions,
  story: (stage: Stage, t: TestContext) => Promise<void>,
): void {
  test(name, { skip, timeout: 600_000 }, async (t) => {
    const stage = await hubFor(options, t);
    const { origin } = stage;
    const surprises: string[] = [];
    const contexts: BrowserContext[] = [];
    const open = async (path: string, { expects, ...how }: OpenOptions = {}) => {
      browser ??= startChromium();
      const context = await (await browser).newContext({
        viewport: { width: 1280, height: 900 },
        reducedMotion: 'reduce',
        ...how,
      });
      contexts.push(context);
      return openPage(context, `${origin}${path}`, (what) => {
        if (!expects?.test(what)) surprises.push(what);
      });
    };
    try {
      await story({ ...stage, open }, t);
    } finally {
      // Before the hub closes, which the page would notice; pending route handlers no longer matter.
      for (const context of contexts) {
        for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' });
        await context.close();
      }
    }
    assert.deepEqual(surprises, [], 'nothing unexpected happened in the browser');
  });
}

async function openPage(context: BrowserContext, url: string, surprise: (what: string) => void): Promise<OpenPage> {
  const { origin } = new URL(url);
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  let requests: string[] = [];
  page.on('pageerror', (error) => surprise(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') surprise(`console: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    surprise(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin) surprise(`request to ${url.origin}`);
    requests.push(`${url.pathname}${url.search}`);
  });
  await page.goto(url);
  return Object.assign(page, {
    asked: (start: string) => requests.filter((request) => request.startsWith(start)),
    forget: () => {
      requests = [];
    },
  });
}

/** Fails when a single test file would run against an outdated build. */
async function assertFreshBuild(): Promise<void> {
  const built = await stat(new URL('dist/web/index.html', ROOT)).catch(() => undefined);
  const sources = await readdir(new URL('web/', ROOT), { recursive: true });
  const times = await Promise.all(sources.map(async (name) => (await stat(new URL(`web/${name}`, ROOT))).mtimeMs));
  assert.ok(
    built && built.mtimeMs >= Math.max(...times),
    "The page is older than its sources: run 'npm run build:page'.",
  );
}

/** Screenshots are for people; no test compares them. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (!process.env.SCREENSHOTS) return;
  // A dialog belongs to the window, not to the page behind it.
  const fullPage = (await page.locator('dialog[open]').count()) === 0;
  await page.screenshot({ path: fileURLToPath(new URL(`${name}.png`, SCREENSHOTS)), fullPage });
}

let axe: Promise<string> | undefined;
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The slowest part of a whole check. */
export const COLORS = { runOnly: ['color-contrast'] };
export const ALL_BUT_COLORS = { runOnly: WCAG, rules: { 'color-contrast': { enabled: false } } };

/** The violations that axe finds, by the rules of WCAG 2.2 AA by default. */
export async function axeFindings(page: Page, rules: object = { runOnly: WCAG }): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) {
    axe ??= readFile(new URL('node_modules/axe-core/axe.min.js', ROOT), 'utf8');
    await page.evaluate(await axe);
  }
  // Without this, axe lists every passing element, which takes longer than the check.
  const options = JSON.stringify({ ...rules, resultTypes: ['violations'] });
  return page.evaluate(`axe.run(${options}).then(({ violations }) =>
    violations.map(({ id, help, nodes }) => id + ': ' + help + ' ' + nodes.slice(0, 3).map(({ target, any }) =>
      target.join(' ') + ' (' + any.map(({ message }) => message).join('; ') + ')').join(', ')))`);
}

/** Checks both themes; they differ only in colors. */
export async function axeFindingsInBothThemes(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' });
  const findings = await axeFindings(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  return [...findings, ...(await axeFindings(page, COLORS))];
}

/** The number of pixels by which the page overflows sideways. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

/** Waits until the last change is on screen. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
}

/** Polls the page until the expression is true; waiting inside the page needs eval, which its policy forbids. */
export async function until(page: Page, expression: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await page.evaluate(expression))) {
    assert.ok(Date.now() < deadline, `never became true: ${expression}`);
    await page.waitForTimeout(50);
  }
}
