import assert from 'node:assert/strict';
import { aManifest } from '../support/builders.ts';
import { browserTest, screenshot } from './stage.ts';

const HIDDEN = String.fromCodePoint(0xe0041);
const hostile = aManifest({
  id: 'turned\u202eid',
  title: `Invoice\u202efdp.exe${HIDDEN}`,
  summary: 'Reads\b\u001b[2J\u009b tables\u2066.',
  description: 'One line.\nAnother\u0007 line.',
  tags: ['one\u202etag'],
});

browserTest(
  'invisible characters: neither a card nor the page of an entity shows any, and its link still leads to it',
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
