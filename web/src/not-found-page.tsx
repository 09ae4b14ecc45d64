// The page for unknown addresses.
import { useEffect } from 'preact/hooks';
import { address } from './router.ts';
import { lastPath } from './search/search-state.ts';

export function NotFoundPage() {
  useEffect(() => {
    document.title = 'Page not found · Catalog Hub';
  }, []);
  return (
    <main id="content" class="entity-page">
      <header class="entity-head">
        <h1>Page not found</h1>
        <p>
          <code class="address">{address.value.pathname}</code> is not a page of this hub. The link may be old, or
          mistyped.
        </p>
        <div class="ways-on">
          <a class="button button-main" href={lastPath.value}>
            Search the catalog
          </a>
          <a class="button" href="/docs">
            See what the API offers
          </a>
        </div>
      </header>
    </main>
  );
}
