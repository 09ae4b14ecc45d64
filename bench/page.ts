// Measures how soon the page shows results in a real browser: `npm run bench:page -- http://127.0.0.1:8765`.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { startChromium } from '../test-page/stage/chromium.ts';

const QUERIES = [
  'pdf tables',
  'weather forecast',
  'query a postgres database',
  'github issues',
  'send email',
  'kubernetes logs',
  'translate text',
  'browser automation',
  'slack messages',
  'read excel',
  'image generation',
  'calendar events',
];
const PAUSE_MS = 700;
/** Time until the tab is idle. */
const OPENING_MS = 1_500;
const OPENINGS = 25;
/** Contains only the awaited element, to measure the time that a browser needs for any page. */
const BARE_PAGE = '<!doctype html><html lang="en"><title>Bare</title><h2 class="result-title">There</h2></html>';

/** Milliseconds since the start of the navigation; a bare page has only some of them. */
interface Opening {
  'HTML received': number;
  'list requested'?: number;
  'script received'?: number;
  'list received'?: number;
  'first paint': number;
  'list on screen': number;
}

const [hub = 'http://127.0.0.1:8765'] = process.argv.slice(2);
const bareServer = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(BARE_PAGE);
}).listen(0, '127.0.0.1');
await once(bareServer, 'listening');
const bare = `http://127.0.0.1:${(bareServer.address() as AddressInfo).port}`;
const browser = await startChromium();
// Reported separately, because it includes the browser's own startup.
const first = await open(browser, hub);
const openings: Opening[] = [];
const bareOpenings: Opening[] = [];
while (openings.length < OPENINGS) {
  openings.push(await open(browser, hub));
  bareOpenings.push(await open(browser, bare));
}
const times = await typeAll(browser);
await browser.close();
bareServer.close();

console.log(`opened as the first tab of a browser: list on screen after ${round(first['list on screen'])} ms`);
console.log(`opened ${OPENINGS} times in a running browser with nothing cached:`);
report(openings);
console.log('a bare page, opened alternately:');
report(bareOpenings);
console.log(`typed to shown: ${spread(times)}`);
console.log(times.map(round).join(' '));

function report(openings: readonly Opening[]): void {
  for (const step of Object.keys(openings[0] ?? {}) as (keyof Opening)[]) {
    console.log(`  ${step.padEnd(15)} ${spread(openings.map((opening) => opening[step] ?? 0))}`);
  }
}

/** Measures a tab without a cache, until the frame that shows the first entry of the list. */
async function open(browser: Browser, url: string): Promise<Opening> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.addInitScript(`
    const observer = new MutationObserver(() => {
      if (!document.querySelector('.result-title')) return;
      observer.disconnect();
      // The message arrives after the frame has been drawn.
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => performance.mark('list on screen');
      requestAnimationFrame(() => port2.postMessage(undefined));
    });
    observer.observe(document, { subtree: true, childList: true });
  `);
  await page.goto(url, { waitUntil: 'commit' });
  // No polling, because each query compiles a script in the page, which takes about ten milliseconds.
  await page.waitForTimeout(OPENING_MS);
  await page.locator('.result-title').first().waitFor();
  const opening: Opening = await page.evaluate(`(() => {
    const named = (name) => performance.getEntriesByName(name)[0]?.startTime;
    const loaded = (part) => performance.getEntriesByType('resource').find(({ name }) => name.includes(part));
    return {
      'HTML received': performance.getEntriesByType('navigation')[0].responseEnd,
      ...(loaded('.js') && {
        'list requested': loaded('/catalog/search').startTime,
        'script received': loaded('.js').responseEnd,
        'list received': loaded('/catalog/search').responseEnd,
      }),
      'first paint': named('first-contentful-paint'),
      'list on screen': named('list on screen'),
    };
  })()`);
  await context.close();
  return opening;
}

async function typeAll(browser: Browser): Promise<number[]> {
  const page = await browser.newPage();
  await page.goto(hub);
  await page.locator('.result-title').first().waitFor();
  const times: number[] = [];
  for (const query of QUERIES) {
    await page.waitForTimeout(PAUSE_MS);
    times.push(await typedToShown(page, query));
  }
  return times;
}

/** Time from the last key press to the frame with the results, including the debounce. */
function typedToShown(page: Page, query: string): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    const field = document.querySelector('.search-field');
    const begun = performance.now();
    const observer = new MutationObserver(() => {
      if (!document.querySelector('.results-count')?.textContent.includes(${JSON.stringify(`“${query}”`)})) return;
      observer.disconnect();
      requestAnimationFrame(() => resolve(performance.now() - begun));
    });
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
    field.value = ${JSON.stringify(query)};
    field.dispatchEvent(new Event('input', { bubbles: true }));
  })`);
}

function spread(times: readonly number[]): string {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number) => round(sorted[Math.floor(sorted.length * share)]);
  return `p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, least ${at(0)} ms, most ${round(sorted.at(-1))} ms`;
}

function round(ms = 0): number {
  return Math.round(ms);
}
