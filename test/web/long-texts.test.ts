import assert from 'node:assert/strict';
import { aManifest } from '../support/builders.ts';
import { axeFindingsInBothThemes, browserTest, overflow, screenshot } from './stage.ts';

const tags = Array.from({ length: 200 }, (_, index) => `a-long-tag-that-goes-on-for-a-while-${index}`);
const long = aManifest({
  title: 'Long title '.repeat(55).trim(),
  summary: 'Words that never seem to end. '.repeat(100).trim(),
  capabilities: ['x'.repeat(300)],
  tags,
});

browserTest(
  'long texts: a card shows the beginning of them, and tags are folded',
  { manifests: [long] },
  async ({ open }) => {
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
  },
);
