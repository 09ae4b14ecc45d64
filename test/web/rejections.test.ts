import assert from 'node:assert/strict';
import { startIndexServer } from '../support/index-server.ts';
import { axeFindingsInBothThemes, browserTest, screenshot, until } from './stage.ts';

const REFUSED = 12;

browserTest('operations: refused manifests that need scrolling can be scrolled by keyboard', {}, async (stage, t) => {
  const host = await startIndexServer(t);
  const paths = Array.from({ length: REFUSED }, (_, index) => `/m/refused-${index}.json`);
  host.put('/index.json', { manifests: paths });
  for (const path of paths) host.put(path, { type: 'nonsense' });
  await stage.hub.addRemote(host.url('/index.json'));
  await stage.hub.syncRemotes();
  const page = await stage.open('/operations', {
    viewport: { width: 390, height: 844 },
    reducedMotion: 'reduce',
    bypassCSP: true,
  });
  await page.getByText(`Manifests it refused: ${REFUSED}`).press('Enter');
  await page.locator('.rejections', { hasText: 'refused-11.json' }).waitFor();
  assert.deepEqual(await axeFindingsInBothThemes(page), []);
  await screenshot(page, 'operations-rejections-phone');
  await page.keyboard.press('Tab');
  await page.keyboard.press('End');
  await until(page, "document.querySelector('.rejections').scrollTop > 0");
  const name = await page.evaluate('document.activeElement.ariaLabel');
  assert.equal(name, `Refused manifests of ${host.url('/index.json')}`);
});
