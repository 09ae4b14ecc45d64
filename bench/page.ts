// How soon the page shows results, in a real browser: `npm run bench:page -- http://127.0.0.1:8765`.
import type { Page } from 'playwright-core';
import { startChromium } from '../test/web/chromium.ts';

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

const [hub = 'http://127.0.0.1:8765'] = process.argv.slice(2);
const browser = await startChromium();
const page = await browser.newPage();

await page.goto(hub);
await page.locator('.result-title').first().waitFor();
const opened: { painted: number; answered: number } = await page.evaluate(`({
  painted: performance.getEntriesByName('first-contentful-paint')[0].startTime,
  answered: performance.getEntriesByType('resource').find(({ name }) => name.includes('/catalog/search')).responseEnd,
})`);
const times: number[] = [];
for (const query of QUERIES) {
  times.push(await typedToShown(page, query));
  await page.waitForTimeout(PAUSE_MS);
}
await browser.close();

const sorted = times.toSorted((one, other) => one - other);
console.log(
  `opened: first paint after ${round(opened.painted)} ms, first results there after ${round(opened.answered)} ms`,
);
console.log(`typed to shown: p50 ${round(sorted[Math.floor(sorted.length / 2)])} ms, most ${round(sorted.at(-1))} ms`);
console.log(times.map(round).join(' '));

/** From the last key to the frame that shows the results, the pause while typing included. */
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

function round(ms = 0): number {
  return Math.round(ms);
}
