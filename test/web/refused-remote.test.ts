import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { axeFindings, browserTest, screenshot, until } from './stage.ts';

const address = (page: Page) => page.getByLabel('Address of an index or of an MCP registry');

const CASES = [
  { given: 'ftp://files.example/', words: 'The address must start with http:// or https://.' },
  {
    given: 'http://name:secret@h.example/',
    words: 'The address must not contain a user name or a password; use the setting REMOTE_CREDENTIALS instead.',
  },
  {
    given: `http://h.example/${'a'.repeat(1_000)}`,
    words: 'The address must not be longer than 1000 characters.',
  },
];

browserTest('operations: an address that is refused is refused at its field, in words', {}, async ({ open, hub }) => {
  for (const name of ['a', 'b', 'c']) await hub.addRemote(`https://${name}.example/index.json`);
  const page = await open('/operations', {
    expects: /400/,
    viewport: { width: 390, height: 844 },
    reducedMotion: 'reduce',
    bypassCSP: true,
  });
  await page.getByText('c.example').first().waitFor();
  await page.getByText('Nothing is pending').waitFor();
  const add = page.getByRole('button', { name: 'Add', exact: true });
  for (const { given, words } of CASES) {
    await address(page).fill(given);
    assert.equal(await page.getByRole('alert').count(), 0, 'a refusal is gone while the address is edited');
    assert.equal(await address(page).getAttribute('aria-invalid'), null, 'an edited address is not wrong yet');
    await add.click();
    const refusal = page.getByRole('alert');
    await refusal.getByText(words, { exact: true }).waitFor();
    assert.equal(await refusal.count(), 1);
    assert.equal(await address(page).getAttribute('aria-invalid'), 'true');
    const described = await address(page).getAttribute('aria-describedby');
    assert.equal(described, await refusal.getAttribute('id'));
    await until(page, "document.activeElement.type === 'url'");
    const [field, sentence] = [await address(page).boundingBox(), await refusal.boundingBox()];
    assert.ok(field && sentence);
    assert.ok(field.y >= 0 && sentence.y + sentence.height <= 845, 'the field and the sentence are in view');
    const gap = sentence.y - (field.y + field.height);
    assert.ok(gap >= 0 && gap < 80, `the sentence stands right below the field, not ${gap} away`);
    assert.equal(await address(page).inputValue(), given, 'it can be corrected');
  }
  assert.deepEqual(await axeFindings(page), []);
  await screenshot(page, 'operations-refused-address-phone');
  await page.getByRole('link', { name: 'Catalog Hub' }).click();
  await page.getByRole('searchbox').waitFor();
  await page.getByRole('link', { name: 'Operations' }).first().click();
  await address(page).waitFor();
  assert.equal(await address(page).getAttribute('aria-invalid'), null, 'a visit begins without a refusal');
  assert.equal(await page.getByRole('alert').count(), 0);
  await address(page).fill('https://d.example/index.json');
  await address(page).press('Enter');
  await page.getByRole('status').getByText('https://d.example/index.json added').first().waitFor();
  assert.equal(await address(page).getAttribute('aria-invalid'), null);
  await until(page, "document.querySelector('input[type=url]').value === ''");
});

browserTest('remotes: an address that is corrected at once is not emptied', {}, async ({ open }) => {
  const page = await open('/operations', { expects: /400/ });
  await page.getByText('No remotes yet').waitFor();
  const slow = Promise.withResolvers<void>();
  await page.route(/\/remotes$/, async (route) => {
    if (route.request().method() === 'GET') await slow.promise;
    await route.continue();
  });
  await address(page).fill('ftp://files.example/');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('alert').waitFor();
  await address(page).fill('https://files.example/');
  const looked = page.waitForResponse((response) => /\/remotes$/.test(response.url()));
  slow.resolve();
  await looked;
  await page.getByText('No remotes yet').waitFor();
  await page.waitForTimeout(200);
  assert.equal(await address(page).inputValue(), 'https://files.example/');
});
