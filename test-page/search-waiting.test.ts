import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { SearchPage } from '../src/search/contract.ts';
import { axeFindings, browserTest, type OpenPage, type Stage, screenshot, until } from './stage/stage.ts';

const demo = { demo: true, isShared: true };
const SEARCHES = /\/catalog\/search\?/;
const field = (page: Page) => page.getByRole('searchbox', { name: 'Search the catalog' });
const titles = (page: Page) => page.locator('.result-title a');
const status = (page: Page) => page.locator('.results-count');
const focused = (page: Page) => page.evaluate('document.activeElement.textContent || document.activeElement.name');

/** The page with its first list; every later response is delayed. */
async function openSlow({ open }: Stage, delayMs: number): Promise<OpenPage> {
  const page = await openFirst(open);
  await page.route(SEARCHES, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await route.continue().catch(() => {});
  });
  return page;
}

/** The page with its first list, and a function that delays all further responses until released. */
async function openHeld({ open }: Stage): Promise<{ page: OpenPage; hold(): () => void }> {
  const page = await openFirst(open);
  let held = Promise.resolve();
  await page.route(SEARCHES, async (route) => {
    await held;
    await route.continue().catch(() => {});
  });
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    return resolve;
  };
  return { page, hold };
}

async function openFirst(open: Stage['open']): Promise<OpenPage> {
  const page = await open('/', { expects: /503/ });
  await titles(page).first().waitFor();
  await page.locator('.types-count').first().waitFor();
  return page;
}

/** The results that the page receives for a query. */
async function found(page: Page, q: string): Promise<string[]> {
  const answer = await page.waitForResponse((each) => new URL(each.url()).searchParams.get('q') === q && each.ok());
  return ((await answer.json()) as SearchPage).items.map(({ title, name }) => title ?? name);
}

for (const [keys, index] of [
  [['ArrowDown', 'Enter'], 0],
  [['Enter', 'Enter'], 0],
  [['ArrowDown', 'ArrowDown', 'Enter'], 1],
  [['ArrowDown', 'ArrowDown', 'ArrowUp', 'Enter'], 0],
] as const) {
  browserTest(`search: ${keys.join(' ')} before the response opens the result`, demo, async (stage) => {
    const { page, hold } = await openHeld(stage);
    const letGo = hold();
    const before = await titles(page).nth(index).textContent();
    const answer = found(page, 'weather');
    await field(page).pressSequentially('weather');
    for (const key of keys) await page.keyboard.press(key);
    await until(page, 'location.search === "?q=weather"');
    await page.waitForTimeout(500);
    assert.match(page.url(), /\/\?q=weather$/, 'opens nothing from the previous list');
    letGo();
    const expected = (await answer)[index] ?? '';
    assert.notEqual(expected, before, 'the previous list differs');
    await page.getByRole('heading', { level: 1, name: expected, exact: true }).waitFor();
    await page.goBack();
    await until(page, 'location.search === "?q=weather"');
    assert.equal(await field(page).inputValue(), 'weather');
  });
}

browserTest('search: an arrow key before the response moves into the new list once it arrives', demo, async (stage) => {
  const { page, hold } = await openHeld(stage);
  const letGo = hold();
  const answer = found(page, 'weather');
  await field(page).pressSequentially('weather');
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(page), 'q', 'the focus stays until then');
  letGo();
  await page.getByText('for “weather”').waitFor();
  await until(page, 'document.activeElement.tagName === "A"');
  assert.equal(await focused(page), (await answer)[0]);
});

browserTest('search: typing or leaving the page cancels the jump', demo, async (stage) => {
  const { page, hold } = await openHeld(stage);
  let letGo = hold();
  await field(page).pressSequentially('weather');
  await page.keyboard.press('Enter');
  await page.keyboard.type(' fore');
  letGo();
  await page.getByText('for “weather fore”').waitFor();
  await page.waitForTimeout(300);
  assert.match(page.url(), /\/\?q=weather\+fore$/);
  assert.equal(await focused(page), 'q');

  letGo = hold();
  await field(page).fill('calendar');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  const elsewhere = await focused(page);
  letGo();
  await page.getByText('for “calendar”').waitFor();
  await page.waitForTimeout(300);
  assert.match(page.url(), /\/\?q=calendar$/);
  assert.equal(await focused(page), elsewhere);
});

browserTest('search: Enter after a failure searches again, and skips earlier results', demo, async (stage) => {
  const page = await openSlow(stage, 200);
  const answer = found(page, 'weather');
  const refuse = /q=weather/;
  await page.route(refuse, (route) =>
    route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"status":503,"detail":"Busy."}' }),
  );
  await field(page).pressSequentially('weather');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('Busy.').waitFor();
  assert.match(page.url(), /\/\?q=weather$/);
  await page.unroute(refuse);
  await page.keyboard.press('Enter');
  await until(page, 'document.activeElement.tagName === "A"');
  assert.equal(await focused(page), (await answer)[0]);
});

browserTest('search: focus is not lost with a row that disappears', demo, async (stage) => {
  const page = await openSlow(stage, 300);
  await field(page).fill('weather');
  await page.getByText('for “weather”').waitFor();
  const before = await titles(page).allTextContents();
  const index = 1;
  await titles(page).nth(index).focus();
  await page.goBack();
  await page.getByText('most recently added first').waitFor();
  const after = await titles(page).allTextContents();
  const kept = after.indexOf(before[index] ?? '');
  await until(page, 'document.activeElement !== document.body');
  assert.equal(await focused(page), after[kept < 0 ? index : kept], 'at the same position, or on the same entry');

  await page.goto(`${stage.origin}/?q=weather&mode=keyword`);
  await page.getByText('for “weather”').waitFor();
  await page.evaluate(
    `history.pushState(null, '', '/?q=zzqqxxyy&mode=keyword'); history.pushState(null, '', '/?q=weather&mode=keyword')`,
  );
  await titles(page).first().focus();
  await page.goBack();
  await page.getByText('Nothing found for “zzqqxxyy”').waitFor();
  await until(page, 'document.activeElement !== document.body');
  assert.equal(await focused(page), 'q', 'without a list, the field has the focus');

  await page.getByRole('button', { name: 'weather forecast' }).press('Enter');
  await page.getByText('for “weather forecast”').waitFor();
  await until(page, 'document.activeElement !== document.body');
});

browserTest('search: while another search runs, the old count is not shown as its result', demo, async (stage) => {
  const { page, hold } = await openHeld(stage);
  const letGo = hold();
  await status(page).getByText('30 entries').waitFor();
  await field(page).fill('weather');
  const searching = page.getByRole('status').getByText('Searching…');
  await searching.waitFor();
  const announced = `[...document.querySelectorAll('.results-count > :not([aria-hidden])')].map((each) => each.textContent).join(' ')`;
  assert.equal(await page.evaluate(announced), 'Searching…');
  await until(page, 'getComputedStyle(document.querySelector(".results-count .waiting")).opacity === "1"');
  await until(page, 'getComputedStyle(document.querySelector(".results-were")).visibility === "hidden"');
  await screenshot(page, 'search-refining');
  letGo();
  await page.getByText('for “weather”').waitFor();
  assert.equal(await searching.count(), 0);
  assert.equal(await page.locator('.results-were').count(), 0);
  assert.match(String(await page.evaluate(announced)), /results? for “weather”/);
  assert.deepEqual(await axeFindings(await stage.open('/?q=weather', { bypassCSP: true })), []);
});
