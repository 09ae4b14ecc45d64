import assert from 'node:assert/strict';
import { aManifest } from '../test/support/builders.ts';
import { axeFindingsInBothThemes, browserTest, overflow, screenshot } from './stage/stage.ts';

/** Invisible characters: a direction mark, and a tag that changes a flag. */
const UNSEEN = ['rtl\u202ex', 'flag \u{1F3F4}\u{E0067}\u{E007F}'];
const filtered = [aManifest({ capabilities: UNSEEN }), aManifest({ id: 'other', name: 'other', capabilities: ['x'] })];

browserTest(
  'search: filters find values with invisible characters, and do not show them',
  { manifests: filtered },
  async ({ open }) => {
    const page = await open('/');
    for (const shown of ['rtlx', 'flag \u{1F3F4}']) {
      const choice = page.locator('.choice', { has: page.getByText(shown, { exact: true }) });
      await choice.click();
      await page
        .getByText('1 entry', { exact: false })
        .or(page.getByText('1 result', { exact: false }))
        .first()
        .waitFor();
      assert.equal(await page.locator('.result-title').count(), 1);
      await choice.click();
      await page.locator('.result-title').nth(1).waitFor();
    }
  },
);

const HIDDEN = String.fromCodePoint(0xe0041);
const hostile = aManifest({
  id: 'turned\u202eid',
  title: `Invoice\u202efdp.exe${HIDDEN}`,
  summary: 'Reads\b\u001b[2J\u009b tables\u2066.',
  description: 'One line.\nAnother\u0007 line.',
  tags: ['one\u202etag'],
});

browserTest(
  'invisible characters: cards and pages of entities hide them, and links still work',
  { manifests: [hostile] },
  async ({ open }) => {
    const page = await open('/');
    const shown = async () => (await page.locator('main').innerText()).replaceAll('turned\u202eid', '');
    await page.locator('.result-title a', { hasText: 'Invoicefdp.exe' }).waitFor();
    await screenshot(page, 'invisible-characters');
    assert.match(await shown(), /Reads tables\./);
    assert.doesNotMatch(await shown(), /(?!\n)[\p{Cc}\p{Bidi_Control}\u{E0000}-\u{E007F}]/u);
    await page.locator('.result-title a').click();
    await page.getByRole('heading', { level: 1, name: 'Invoicefdp.exe', exact: true }).waitFor();
    assert.match(await shown(), /One line\.\nAnother line\./);
    assert.doesNotMatch(await shown(), /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u{E0000}-\u{E007F}]/u);
    assert.equal(await page.title(), 'Invoicefdp.exe 1.0.0 · Catalog Hub');
  },
);

const tags = Array.from({ length: 200 }, (_, index) => `a-long-tag-that-goes-on-for-a-while-${index}`);
const long = aManifest({
  title: 'Long title '.repeat(55).trim(),
  summary: 'Words that never seem to end. '.repeat(100).trim(),
  capabilities: ['x'.repeat(300)],
  tags,
});

browserTest('long texts: a card shows their start, and tags are collapsed', { manifests: [long] }, async ({ open }) => {
  const page = await open('/', { viewport: { width: 390, height: 844 }, reducedMotion: 'reduce', bypassCSP: true });
  for (const path of ['/', '/?q=never+end+title']) {
    await page.goto(new URL(path, page.url()).href);
    const card = page.locator('.result', { has: page.locator('.labels') });
    const height = (await card.boundingBox())?.height ?? 0;
    assert.ok(height > 100 && height < 600, `${height} px`);
    assert.ok((await overflow(page)) <= 0);
  }
  await page.locator('.result-title a').focus();
  await screenshot(page, 'long-texts-card-phone');
  assert.deepEqual(await axeFindingsInBothThemes(page), []);

  await page.locator('.result-title a').press('Enter');
  const facts = page.getByRole('region', { name: 'At a glance' });
  const before = (await facts.boundingBox())?.height ?? 0;
  assert.ok(before < 1_200, `${before} px`);
  await screenshot(page, 'long-texts-facts-phone');
  assert.deepEqual(await axeFindingsInBothThemes(page), []);
  assert.ok(await facts.getByText(tags[0] ?? '').isVisible());
  const last = facts.getByText(tags.at(-1) ?? '');
  assert.ok(!(await last.isVisible()));
  await facts.getByText('188 more').press('Enter');
  await last.waitFor();
  assert.ok((await overflow(page)) <= 0);
});
