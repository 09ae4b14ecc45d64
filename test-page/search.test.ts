import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { SearchPage } from '../src/search/contract.ts';
import { aManifest } from '../test/support/builders.ts';
import {
  ALL_BUT_COLORS,
  axeFindings,
  axeFindingsInBothThemes,
  browserTest,
  overflow,
  screenshot,
  until,
} from './stage/stage.ts';

const demo = { demo: true, isShared: true };
const field = (page: Page) => page.getByRole('searchbox', { name: 'Search the catalog' });
const titles = (page: Page) => page.locator('.result-title a');
const first = (page: Page) => titles(page).first();
const focused = (page: Page) => page.evaluate('document.activeElement.textContent || document.activeElement.name');

browserTest('search: results appear while typing, with highlights and reasons', demo, async ({ open }) => {
  const page = await open('/');
  await first(page).waitFor();
  page.forget();
  await field(page).pressSequentially('tables in a pdf', { delay: 20 });
  await page.getByText('for “tables in a pdf”').waitFor();
  await page.locator('.reason-label').first().waitFor();

  assert.match((await first(page).textContent()) ?? '', /PDF/);
  assert.ok((await page.locator('.result-title mark, .result-summary mark').count()) > 0, 'words are marked');
  assert.match(page.url(), /\/\?q=tables\+in\+a\+pdf$/);
  assert.equal(await page.title(), 'tables in a pdf · Catalog Hub');

  page.forget();
  // Faster than anybody types, so a slow machine adds no pauses.
  await page.evaluate(`for (const text of ['w', 'we', 'wea', 'weat', 'weath', 'weathe', 'weather']) {
    const field = document.querySelector('.search-field');
    field.value = text;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }`);
  await page.getByText('for “weather”').waitFor();
  const asked = page.asked('/catalog/search').map((path) => new URL(path, 'http://h').searchParams.get('q'));
  // Counts of the previous search may still be requested.
  const typed = new Set(asked.filter((q) => q !== 'tables in a pdf'));
  assert.deepEqual(typed, new Set(['weather']), 'not every keystroke is a search');
});

browserTest('search: the first list is requested once, before the script has loaded', demo, async ({ open }) => {
  const page = await open('/');
  await first(page).waitFor();
  await page.getByText('Capability or tag', { exact: true }).waitFor();
  const lists = page.asked('/catalog/search').filter((path) => !path.includes('facets'));
  assert.equal(lists.length, 1, 'the preloaded response is the one shown');
  const isAhead = await page.evaluate(`(() => {
    const loaded = (part) => performance.getEntriesByType('resource').find(({ name }) => name.includes(part));
    return loaded('/catalog/search').startTime < loaded('.js').responseEnd;
  })()`);
  assert.ok(isAhead);
});

browserTest('search: a late response does not replace a newer one', demo, async ({ open }) => {
  const page = await open('/');
  await first(page).waitFor();
  await page.route(/\/catalog\/search\?.*q=weather/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await route.continue().catch(() => {});
  });
  await field(page).fill('weather');
  await page.waitForTimeout(400);
  await field(page).fill('calendar');
  await page.getByText('for “calendar”').waitFor();
  await page.waitForTimeout(1_800);
  assert.match((await first(page).textContent()) ?? '', /Calendar/);
  assert.match(page.url(), /q=calendar/);
});

browserTest('search: works by keyboard alone', demo, async ({ open }) => {
  const page = await open('/');
  await first(page).waitFor();
  assert.ok(await page.locator('.search-hint').isVisible());
  await page.keyboard.press('/');
  await page.keyboard.type('pdf table');
  await page.getByText('for “pdf table”').waitFor();
  await until(page, "document.querySelectorAll('.results-old, .waiting').length === 0");
  const names = await titles(page).allTextContents();
  assert.ok(names.length >= 2);

  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(page), names[0]);
  assert.ok(await page.locator('.search-hint').isHidden(), 'no hint next to typed text');
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(page), names[1]);
  await page.keyboard.press('End');
  assert.equal(await focused(page), (await titles(page).allTextContents()).at(-1));
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowUp');
  assert.equal(await focused(page), 'q', 'the field comes before the first result');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('/');
  assert.equal(await focused(page), 'q');
  assert.equal(await field(page).inputValue(), 'pdf table', 'the shortcut itself is not typed');

  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: names[0] ?? '' }).waitFor();
  assert.match(page.url(), /\/entities\/\w+:/);
  await page.goBack();
  await page.getByText('for “pdf table”').waitFor();
  assert.equal(await field(page).inputValue(), 'pdf table');
});

browserTest('search: the shortcut and the link lead back to the last search from any page', demo, async ({ open }) => {
  const page = await open('/?q=pdf+table&type=tool');
  const away = async () => {
    await first(page).click();
    await page.getByRole('heading', { level: 2, name: 'Use it' }).waitFor();
  };
  const isBack = async () => {
    await page.getByText('for “pdf table”').waitFor();
    assert.match(page.url(), /\/\?type=tool&q=pdf\+table$/);
  };
  await away();
  await page.keyboard.press('/');
  await isBack();
  await until(page, 'document.activeElement.name === "q"');
  await away();
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Search' }).click();
  await isBack();
});

browserTest('search: Enter in the field moves to the best result, Enter again opens it', demo, async ({ open }) => {
  const page = await open('/?q=weather+almanac');
  await first(page).waitFor();
  await field(page).press('Enter');
  await until(page, 'document.activeElement.tagName === "A"');
  assert.match(page.url(), /q=weather\+almanac$/);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Weather Almanac' }).waitFor();
});

/** The counts of the hub. */
async function countsOf(origin: string, filters: string): Promise<NonNullable<SearchPage['facets']>> {
  const answer = await fetch(`${origin}/catalog/search?versions=latest&facets=true&${filters}`);
  const { facets } = (await answer.json()) as SearchPage;
  assert.ok(facets);
  return facets;
}

browserTest('search: the count of a filter value equals its results', demo, async ({ open, origin }) => {
  const [chosen, other] = (await countsOf(origin, 'type=tool')).framework;
  assert.ok(chosen && other, 'at least two values exist');
  const types = (await countsOf(origin, `frameworks=${chosen.value}`)).type;
  const all = types.reduce((sum, { count }) => sum + count, 0);
  assert.ok(types.length > 1, 'other types have it too');

  const page = await open(`/?type=tool&frameworks=${chosen.value}`);
  const shown = (count: number) => page.locator('.types-count', { hasText: new RegExp(`^${count}$`) }).first();
  for (const count of [all, ...types.map((each) => each.count)]) await shown(count).waitFor();
  assert.equal(await page.locator('.types-choice', { hasText: 'Everything' }).textContent(), `Everything${all}`);
  const framework = page.getByRole('group', { name: 'Framework' });
  for (const { value, count } of [chosen, other]) {
    await framework.locator('.choice', { hasText: new RegExp(`^${value}${count}$`) }).waitFor();
  }

  await page.getByRole('radio', { name: /Everything/ }).check({ force: true });
  await page.getByText(`${all} ${all === 1 ? 'entry' : 'entries'}, most recently added first`).waitFor();
  page.forget();
  await page.getByLabel('Every version').check();
  await page.waitForURL(/versions=all/);
  await until(page, 'document.querySelector(".results:not(.results-old)") !== null');
  const limits = page.asked('/catalog/search').map((path) => /limit=1(&|$)/.test(path));
  assert.ok(limits.filter(Boolean).length <= 1, 'only the filter in use is counted separately');
});

browserTest(
  'search: filters show counts, narrow results, and survive reload and Back',
  demo,
  async ({ open, origin }) => {
    const page = await open('/');
    const tools = page.locator('.types-choice', { hasText: 'Tools' });
    await tools.locator('.types-count').waitFor();
    const count = Number(await tools.locator('.types-count').textContent());
    await tools.click();
    await page.getByText(`${count} entries, most recently added first`).waitFor();
    assert.deepEqual(new Set(await page.locator('.result .type').allTextContents()), new Set(['Tool']));

    const framework = page.getByRole('group', { name: 'Framework' });
    const [most] = (await countsOf(origin, 'type=tool')).framework;
    const narrowed = most?.count ?? 0;
    // Until then, the counts of the previous response are shown.
    const option = framework.locator('.choice', { hasText: new RegExp(`^${most?.value}${narrowed}$`) });
    await option.click();
    await page.getByText(`${narrowed} ${narrowed === 1 ? 'entry' : 'entries'}, most recently added first`).waitFor();
    assert.equal(await titles(page).count(), narrowed);
    assert.match(page.url(), /\/\?type=tool&frameworks=\w+$/);

    await page.reload();
    await page.getByText(`${narrowed} ${narrowed === 1 ? 'entry' : 'entries'}, most recently added first`).waitFor();
    assert.ok(await page.getByRole('radio', { name: /Tools/ }).isChecked());
    assert.ok(await framework.getByRole('checkbox').first().isChecked());

    await page.goBack();
    await page.getByText(`${count} entries, most recently added first`).waitFor();
    assert.match(page.url(), /\/\?type=tool$/);
    await page.goForward();
    await page.getByText(`${narrowed} ${narrowed === 1 ? 'entry' : 'entries'}, most recently added first`).waitFor();
    await page.getByRole('button', { name: 'Clear all filters' }).click();
    await page.getByText('most recently added first').waitFor();
    assert.match(page.url(), /\/$/);
  },
);

const tagged = Array.from({ length: 60 }, (_, index) =>
  aManifest({ id: `entry-${index}`, name: `a/entry-${index}`, tags: [`tag-${index}`], capabilities: [] }),
);
browserTest('search: every value of a filter can be found', { manifests: tagged }, async ({ open }) => {
  const page = await open('/');
  const group = page.getByRole('group', { name: 'Capability or tag' });
  await group.getByRole('button', { name: 'All values' }).click();
  await group.getByText('50 of 60').waitFor();
  assert.equal(await group.getByRole('checkbox').count(), 50);
  const find = group.getByRole('searchbox', { name: 'Find or add a capability or tag' });
  assert.equal(await group.getByText('tag-9', { exact: true }).count(), 0, 'not among the first 50');

  page.forget();
  // Faster than anybody types, so a slow machine adds no pauses.
  await page.evaluate(`for (const text of ['T', 'TA', 'TAG', 'TAG-', 'TAG-9']) {
    const field = document.querySelector('.filter-find');
    field.value = text;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }`);
  await group.locator('.choice', { hasText: /^tag-91$/ }).waitFor();
  assert.equal(await group.getByRole('checkbox').count(), 1);
  const asked = page.asked('/catalog/search').filter((path) => path.includes('facet_text'));
  assert.equal(asked.length, 1, 'not every keystroke is a request');
  await screenshot(page, 'search-filter-values');

  await find.fill('nowhere');
  await group.getByText('No capability or tag contains “nowhere”. Press Enter to filter by it anyway.').waitFor();
  await find.fill('tag-9');
  await group.locator('.choice', { hasText: /^tag-91$/ }).click();
  await page.getByText('1 entry').waitFor();
  assert.match(page.url(), /capabilities=tag-9$/);
  await find.fill('');
  await group.locator('.choice', { hasText: /^tag-9$/ }).waitFor();
  assert.ok(
    await group
      .locator('.choice', { hasText: /^tag-9$/ })
      .getByRole('checkbox')
      .isChecked(),
  );
  assert.deepEqual(await axeFindings(page), []);
});

browserTest('search: the mode can be chosen', demo, async ({ open }) => {
  const page = await open('/?q=pdf');
  await first(page).waitFor();
  const asked = page.waitForRequest(/\/catalog\/search\?.*mode=keyword/);
  await page.getByLabel('Search by').selectOption('keyword');
  await page.waitForURL(/mode=keyword/);
  await asked;
});

browserTest('search: the hub sorts all results, not only those on the page', demo, async ({ open, origin }) => {
  const page = await open('/');
  await first(page).waitFor();
  const sorts = page.getByLabel('Sort by');
  assert.deepEqual(await sorts.locator('option').allTextContents(), [
    'Recently added',
    'Recently updated',
    'Name',
    'Best described',
  ]);
  page.forget();
  await sorts.selectOption('Name');
  await page.waitForURL(/sort=name/);
  const answer = await fetch(`${origin}/catalog/search?versions=latest&sort=name&limit=40`);
  const { items } = (await answer.json()) as SearchPage;
  const sorted = items.map(({ title, name }) => title ?? name);
  await titles(page).first().filter({ hasText: sorted[0] }).waitFor();
  assert.ok(page.asked('/catalog/search').some((path) => /sort=name.*limit=20/.test(path)));
  assert.deepEqual(await titles(page).allTextContents(), sorted.slice(0, 20));
  await screenshot(page, 'search-sorted');
  await page.getByRole('button', { name: 'Show more' }).click();
  await titles(page).nth(20).waitFor();
  assert.deepEqual(await titles(page).allTextContents(), sorted.slice(0, await titles(page).count()));

  await page.getByLabel('Search the catalog').fill('pdf');
  await page.getByText(/results for “pdf”/).waitFor();
  assert.equal(await sorts.inputValue(), 'name', 'the order stays');
  await sorts.selectOption('Relevance');
  await page.waitForURL((url) => !url.searchParams.has('sort'));
});

browserTest('search: versions are counted and shown on request; withdrawn ones are marked', demo, async ({ open }) => {
  const page = await open('/?q=postgres+reader');
  await first(page).waitFor();
  assert.match((await page.locator('.result').first().textContent()) ?? '', /3 versions/);
  const named = page.locator('.result-title', { hasText: 'Postgres Reader' });
  assert.equal(await named.count(), 1);
  await page.getByLabel('Every version').check();
  await page.waitForURL(/versions=all/);
  await named.nth(2).waitFor();

  await page.goto(`${new URL(page.url()).origin}/?include_inactive=true&show=100`);
  await page.locator('.badge-disabled').first().waitFor();
  await page.locator('.badge-deprecated').first().waitFor();
});

browserTest('search: more results load on request, also after a reload', demo, async ({ open }) => {
  const page = await open('/');
  await titles(page).nth(19).waitFor();
  assert.equal(await titles(page).count(), 20);
  await page.getByRole('button', { name: 'Show more' }).click();
  await titles(page).nth(20).waitFor();
  const all = await titles(page).count();
  await page.reload();
  await titles(page)
    .nth(all - 1)
    .waitFor();
  assert.equal(await page.getByRole('button', { name: 'Show more' }).count(), 0);
});

browserTest('search: focus moves to the first new result, and back to the opened one', demo, async ({ open }) => {
  const page = await open('/');
  await first(page).waitFor();
  await page.getByRole('button', { name: 'Show more' }).press('Enter');
  await titles(page).nth(20).waitFor();
  await until(page, 'document.activeElement.tagName === "A"');
  assert.equal(await focused(page), await titles(page).nth(20).textContent());

  const opened = await titles(page).nth(22).textContent();
  for (const how of ['keyboard', 'mouse']) {
    if (how === 'keyboard') await titles(page).nth(22).press('Enter');
    else await titles(page).nth(22).click();
    await page.locator('.entity-id').waitFor();
    await page.goBack();
    await titles(page).nth(22).waitFor();
    await until(page, 'document.activeElement !== document.body');
    assert.equal(await focused(page), opened, how);
  }
});

browserTest('search: an empty result offers ways to continue', demo, async ({ open }) => {
  const page = await open('/?q=zzqqxxyy&type=agent&mode=keyword');
  await page.getByText('Nothing found for “zzqqxxyy”').waitFor();
  await page.getByText('Use other words, or remove some filters.').waitFor();
  for (const type of ['Everything', 'Agents', 'Tools']) {
    await page.locator('.types-choice', { hasText: new RegExp(`^${type}0$`) }).waitFor();
  }
  await page.getByRole('button', { name: 'Clear all filters' }).first().click();
  await page.getByRole('button', { name: 'Search by meaning too' }).waitFor();
  await page.getByRole('button', { name: 'weather forecast' }).click();
  await first(page).waitFor();
  assert.equal(await field(page).inputValue(), 'weather forecast');
});

browserTest('search: a large catalog fits on a phone, and the selects stay together', demo, async ({ open }) => {
  const page = await open('/entities/none', { viewport: { width: 375, height: 800 }, expects: /404/ });
  await page.route(/\/catalog\/search\?/, async (route) => {
    const response = await route.fetch();
    const answer = await response.json();
    for (const each of answer.facets?.type ?? []) each.count += 16_800;
    await route.fulfill({ response, json: answer });
  });
  await page.getByRole('link', { name: 'Search', exact: true }).first().click();
  await page.locator('.types-count').first().waitFor();
  assert.ok((await overflow(page)) <= 0, 'the hidden inputs of the types scroll with them');
  await page.setViewportSize({ width: 1280, height: 800 });
  const boxes = await Promise.all((await page.locator('.select').all()).map((select) => select.boundingBox()));
  assert.equal(boxes[0]?.y, boxes[1]?.y);
  assert.equal(boxes.length, 2);
});

browserTest('search: marks results that match only by meaning', demo, async ({ open, origin }) => {
  const page = await open('/');
  await page.route(/\/catalog\/search\?.*q=/, async (route) => {
    const response = await route.fetch({ url: `${origin}/catalog/search?versions=latest&limit=3` });
    await route.fulfill({ response, json: { ...(await response.json()), mode: 'hybrid', only_by_meaning: true } });
  });
  await page.goto(`${origin}/?q=qwxzv+flurbz`);
  await page.getByText('No exact matches for “qwxzv flurbz”. Showing the closest entries by meaning').waitFor();
  await page.locator('.result').first().waitFor();
  await screenshot(page, 'search-only-by-meaning');
  await page.goto(`${origin}/?q=qwxzv+flurbz&type=tool`);
  await page.getByText('No exact matches for “qwxzv flurbz” with these filters. Showing the closest').waitFor();
});

browserTest(
  'search: a single result that is only close in meaning is labeled, without a reason',
  demo,
  async (stage) => {
    const page = await stage.open('/');
    await page.route(/\/catalog\/search\?.*q=/, async (route) => {
      const response = await route.fetch({ url: `${stage.origin}/catalog/search?versions=latest&limit=1` });
      const answer = await response.json();
      await route.fulfill({ response, json: { ...answer, total: 1, mode: 'hybrid', only_by_meaning: true } });
    });
    await page.goto(`${stage.origin}/?q=qwxzv+flurbz`);
    await page.getByText('1 result for “qwxzv flurbz”').waitFor();
    await page.getByText('No exact matches for “qwxzv flurbz”').waitFor();
    assert.equal(await page.getByText('Why it matches').count(), 0, 'a reason would contradict the label');
  },
);

browserTest('search: an empty catalog says what to do', {}, async ({ open }) => {
  const page = await open('/');
  await page.getByText('The catalog is empty').waitFor();
  const advice = await page.locator('.notice').innerText();
  for (const way of ['MCP registry', 'hub serve --demo', 'npm start -- --demo in a clone'])
    assert.ok(advice.includes(way), `${way}: ${advice}`);
  await page.getByRole('link', { name: 'Operations' }).last().click();
  await page.getByRole('heading', { level: 1, name: 'Operations' }).waitFor();
});

browserTest('search: shows the message of a failing hub, with a retry', demo, async ({ open }) => {
  const page = await open('/', { expects: /503/ });
  await first(page).waitFor();
  const detail = 'The hub is overloaded; try again in a few seconds.';
  await page.route(/\/catalog\/search/, (route) =>
    route.fulfill({
      status: 503,
      contentType: 'application/problem+json',
      body: JSON.stringify({ status: 503, detail, request_id: 'r-1' }),
    }),
  );
  await field(page).fill('pdf');
  await page.getByRole('alert').getByText(detail).waitFor();
  assert.match((await page.getByRole('alert').textContent()) ?? '', /r-1/);
  await page.unroute(/\/catalog\/search/);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('for “pdf”').waitFor();
});

browserTest('search: failed counts do not affect results', demo, async ({ open }) => {
  const page = await open('/', { expects: /503/ });
  await page.locator('.types-count').first().waitFor();
  await page.route(/facets=true/, (route) =>
    route.fulfill({
      status: 503,
      contentType: 'application/problem+json',
      body: JSON.stringify({ status: 503, detail: 'The counts take too long at the moment.' }),
    }),
  );
  await field(page).fill('pdf');
  await page.getByText('for “pdf”').waitFor();
  await page.getByText('The counts take too long at the moment.').waitFor();
  assert.equal(await page.locator('.results-old').count(), 0, 'they are not grayed out');
  assert.equal(await page.getByRole('alert').count(), 0, 'nothing that was requested failed');
  assert.equal(await page.locator('.reason-awaited').count(), 0, 'results do not wait for reasons');
  assert.equal(await page.locator('.types-count').count(), 0, 'counts of another search are not shown as its own');
  await screenshot(page, 'search-without-counts');
  await page.unroute(/facets=true/);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.types-count').first().waitFor();
  assert.equal(await page.getByText('The counts take too long').count(), 0);
});

browserTest('search: highlights only the searched words', demo, async ({ open }) => {
  const page = await open('/?q=tables+in+a+pdf');
  await page.locator('.reason-label').first().waitFor();
  const marked = new Set((await page.locator('mark').allTextContents()).map((text) => text.toLowerCase()));
  assert.ok(marked.has('pdf') && marked.has('tables'));
  for (const word of ['in', 'a']) assert.ok(!marked.has(word), word);
  const spoken = page.locator('.reason mark', { hasText: /^(in|name|tags|meaning|mentions)$/i });
  assert.equal(await spoken.count(), 0, 'the hub’s words in a reason are not highlighted');
});

browserTest('search: says what is counted, here and on the operations page', demo, async ({ open }) => {
  const page = await open('/');
  const counted = page.locator('.results-count');
  await counted.getByText('30 entries, most recently added first').waitFor();
  await page.getByLabel('Every version').check();
  await page.getByLabel('Disabled and missing entries').check();
  await counted.getByText('33 entries, most recently added first').waitFor();
  await page.getByRole('link', { name: 'Operations' }).click();
  await page.getByText('all versions').first().waitFor();
});

browserTest(
  'page: works when the browser stores nothing',
  { demo: true, settings: { API_TOKEN: 'kept' } },
  async ({ open }) => {
    const page = await open('/');
    await page.addInitScript(`for (const name of ['localStorage', 'sessionStorage'])
    Object.defineProperty(window, name, { get() { throw new DOMException('blocked', 'SecurityError'); } });`);
    await page.reload();
    await first(page).waitFor();
    await page.getByRole('button', { name: /^Theme/ }).click();
    await page.getByRole('button', { name: 'Theme: light. Change' }).waitFor();
    await page.getByRole('link', { name: 'Operations' }).click();
    await page.getByLabel('Token', { exact: true }).fill('kept');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Remotes' }).waitFor();
    await page.getByRole('link', { name: 'Search' }).click();
    await first(page).waitFor();
    await page.getByRole('link', { name: 'Operations' }).click();
    await page.getByRole('heading', { name: 'Remotes' }).waitFor();
  },
);

browserTest('page: a response that is not from the hub is reported as such', demo, async ({ open }) => {
  const page = await open('/');
  await first(page).waitFor();
  await page.route(/\/catalog\/search/, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<h1>Log in first</h1>' }),
  );
  await field(page).fill('pdf');
  const alert = page.getByRole('alert');
  await alert.getByText('The response is not from the hub').waitFor();
  assert.doesNotMatch((await alert.textContent()) ?? '', /does not answer|offline/);
});

browserTest('search: offline keeps the results; back online, the search continues', demo, async ({ open }) => {
  const page = await open('/', { expects: /ERR_INTERNET_DISCONNECTED/ });
  await first(page).waitFor();
  await page.context().setOffline(true);
  await page.getByText('This device is offline. The page stays as it is').waitFor();
  await field(page).fill('weather');
  await page.getByRole('alert').getByText('offline').waitFor();
  assert.ok((await titles(page).count()) > 0);
  await page.context().setOffline(false);
  await page.getByText('for “weather”').waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
});

browserTest('search: earlier results stay readable while the hub is unreachable', demo, async ({ open }) => {
  const how = { reducedMotion: 'reduce', bypassCSP: true, expects: /500|DISCONNECTED/ } as const;
  const page = await open('/?q=pdf&include_inactive=true&show=40', how);
  await page.locator('.types-count').first().waitFor();
  await page.route(/\/catalog\//, (route) => route.fulfill({ status: 500, body: '' }));
  await field(page).fill('weather');
  await page.getByRole('alert').waitFor();
  await page.getByText('The previous results are shown below.').waitFor();
  assert.equal(await page.locator('.results-old').count(), 1);
  await screenshot(page, 'search-error');
  assert.deepEqual(await axeFindingsInBothThemes(page), []);

  await page.unroute(/\/catalog\//);
  await page.context().setOffline(true);
  await field(page).fill('weather forecast');
  await page.getByRole('alert').getByText('offline').waitFor();
  assert.deepEqual(await axeFindings(page, ALL_BUT_COLORS), []);
});

browserTest('search: a hub that is unreachable for a while is retried automatically', demo, async ({ open }) => {
  const page = await open('/', { expects: /ERR_CONNECTION_REFUSED/ });
  await first(page).waitFor();
  await page.route(/\/catalog\/search/, (route) => route.abort('connectionrefused'));
  await field(page).pressSequentially('weather', { delay: 20 });
  const alert = page.getByRole('alert');
  await alert.getByText('The hub does not answer').waitFor();
  await alert.getByText('continues automatically').waitFor();
  assert.equal(await page.locator('.results-old').count(), 1, 'results of another search are not shown as its own');
  assert.equal(await field(page).inputValue(), 'weather');
  await page.unroute(/\/catalog\/search/);
  await page.getByText('for “weather”').waitFor();
  assert.equal(await alert.count(), 0);
});

browserTest('page: an unknown address is reported, with a link onward', demo, async ({ open }) => {
  const page = await open('/nowhere/at/all', { expects: /404/ });
  await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
  await page.getByText('/nowhere/at/all').waitFor();
  assert.equal(await page.title(), 'Page not found · Catalog Hub');
  assert.deepEqual(await axeFindings(page), []);
  await screenshot(page, 'nowhere');
  await page.getByRole('link', { name: 'Search the catalog' }).click();
  await first(page).waitFor();
  assert.equal(new URL(page.url()).pathname, '/');
});

browserTest('page: a malformed address is reported too', demo, async ({ open, origin }) => {
  const page = await open('/entities/%E0%A4%A', { expects: /404/ });
  await page.getByRole('heading', { level: 1, name: 'Entry not found' }).waitFor();
  await page.goto(`${origin}/%zz`);
  await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
  for (const path of ['/catalog/entities/%E0%A4%A', '/%zz']) {
    const answer = await fetch(`${origin}${path}`);
    assert.match(answer.headers.get('content-type') ?? '', /problem\+json/, 'programs get a problem document');
  }
});

browserTest(
  'search: results with a hundred thousand characters and rare scripts are shown',
  { manifests: [aManifest({ title: 'ふりがな 😀 مرحبا', summary: `${'很长'.repeat(400)} end` })] },
  async ({ open }) => {
    const page = await open('/');
    await first(page).waitFor();
    assert.equal(await first(page).textContent(), 'ふりがな 😀 مرحبا');
  },
);

browserTest(
  'search: pre-releases are shown on request',
  { manifests: ['1.0.0', '1.1.0-beta.1'].map((version) => aManifest({ version })) },
  async ({ open }) => {
    const page = await open('/');
    const version = page.locator('.result .result-version');
    await version.getByText('1.0.0').waitFor();
    await page.getByLabel('Pre-releases').check();
    await version.getByText('1.1.0-beta.1').waitFor();
    assert.match(page.url(), /\/\?prerelease=true$/);
    await page.reload();
    await version.getByText('1.1.0-beta.1').waitFor();
    assert.ok(await page.getByLabel('Pre-releases').isChecked());
  },
);

browserTest('search: a query in an empty catalog says that the catalog is empty', {}, async ({ open }) => {
  const page = await open('/?q=read+tables');
  await page.getByText('The catalog is empty').waitFor();
  assert.equal(await page.getByText(/Semantic search is not ready|For example/).count(), 0);
});
