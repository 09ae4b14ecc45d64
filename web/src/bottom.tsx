// The footer of every page: the version of the hub, and links for developers.
import { settings } from './api/settings.ts';

export function Bottom() {
  return (
    <footer class="bottom">
      <span>Catalog Hub {settings.value?.version}</span>
      <a href="/docs">API</a>
      <a href="/openapi.json">OpenAPI document</a>
      <a href="/health">Health</a>
    </footer>
  );
}
