import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { browserTest } from './stage/stage.ts';

const PDF = '/entities/mcp_server:mcp.io-example-docs-pdf-tables.stdio.4c1f07a9be@0.8.3';
const MOST_TABS = 60;
const demo = { demo: true, isShared: true };

interface Stop {
  name: string;
  column: 'main' | 'side' | 'both';
  y: number;
}

/** The elements of the content that Tab reaches, in order. */
async function tabStops(page: Page): Promise<Stop[]> {
  await page.getByRole('heading', { level: 1 }).focus();
  const stops: Stop[] = [];
  for (let tab = 0; tab < MOST_TABS; tab += 1) {
    await page.keyboard.press('Tab');
    const stop = (await page.evaluate(`(() => {
      const element = document.activeElement;
      if (!element.closest('main')) return null;
      const column = element.closest('.entity-side') ? 'side' : element.closest('.entity-main') ? 'main' : 'both';
      return { name: element.textContent.trim().slice(0, 30), column, y: element.getBoundingClientRect().top + scrollY };
    })()`)) as Stop | null;
    if (!stop) break;
    stops.push(stop);
  }
  return stops;
}

/** Elements on one line may differ slightly in height. */
const downwards = (stops: readonly Stop[]) =>
  stops.every(({ y }, index) => index === 0 || y > (stops[index - 1]?.y ?? 0) - 24);

for (const [size, viewport] of Object.entries({
  phone: { width: 390, height: 844 },
  'zoomed to 200 %': { width: 640, height: 450 },
})) {
  browserTest(`reading order: Tab goes down the page of an entity, ${size}`, demo, async ({ open }) => {
    const page = await open(PDF, { viewport });
    const stops = await tabStops(page);
    assert.ok(stops.length > 8, JSON.stringify(stops));
    assert.ok(stops.some(({ column }) => column === 'side'));
    assert.ok(downwards(stops), JSON.stringify(stops, null, 1));
    assert.deepEqual(await headings(page), await headings(page, 'by height'), 'the reading order is the visual order');
  });
}

browserTest('reading order: in a wide window Tab goes down one column, then the other', demo, async (stage) => {
  const page = await stage.open(PDF);
  const stops = await tabStops(page);
  const [main, side] = (['main', 'side'] as const).map((wanted) => stops.filter(({ column }) => column === wanted));
  assert.ok(main && side && main.length > 4 && side.length > 2);
  assert.deepEqual(
    stops.filter(({ column }) => column !== 'both'),
    [...main, ...side],
  );
  assert.ok(downwards(main) && downwards(side), JSON.stringify(stops, null, 1));
});

browserTest('reading order: changes with the window, and open sections stay open', demo, async ({ open }) => {
  const page = await open(PDF);
  await page.locator('.manifest > summary').click();
  const manifest = page.locator('.manifest[open]');
  await manifest.waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.locator('.entity-main > .entity-side').waitFor();
  assert.equal(await manifest.count(), 1);
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.locator('.entity-main + .entity-side').waitFor();
  assert.equal(await manifest.count(), 1);
});

async function headings(page: Page, order?: 'by height'): Promise<string[]> {
  const found = (await page.evaluate(`[...document.querySelectorAll('main h2')].map((heading) =>
    [heading.textContent, heading.getBoundingClientRect().top])`)) as [string, number][];
  return (order ? found.toSorted(([, a], [, b]) => a - b) : found).map(([name]) => name);
}
