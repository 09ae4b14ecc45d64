// Searches that do not depend on how fast a busy machine indexes.
import { until } from '../until.ts';

/** Repeats a search while its result says that the index lags behind the catalog. */
export async function caughtUp<Page extends { degraded?: string }>(search: () => Promise<Page>): Promise<Page> {
  let page: Page | undefined;
  await until(async () => {
    page = await search();
    return !/The index is (still being built|not up to date)/.test(page.degraded ?? '');
  });
  return page as Page;
}
