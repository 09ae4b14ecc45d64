import assert from 'node:assert/strict';
import { aManifest } from '../support/builders.ts';
import { browserTest } from './stage.ts';

/** Signs that nobody sees: a change of direction, and what makes a flag another one. */
const HIDDEN = ['rtl\u202ex', 'flag \u{1F3F4}\u{E0067}\u{E007F}'];
const manifests = [aManifest({ capabilities: HIDDEN }), aManifest({ id: 'other', name: 'other', capabilities: ['x'] })];

browserTest(
  'search: filters find values with invisible characters, and do not show them',
  { manifests },
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
