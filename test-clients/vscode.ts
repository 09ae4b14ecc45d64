// VS Code's MCP gallery without VS Code: its own code, from npm, talks to a registry.
import { pathToFileURL } from 'node:url';
import { moduleOf } from './install-clients.ts';

interface GalleryServer {
  name: string;
  displayName: string;
  version: string;
  description: string;
  status: string;
  isLatest: boolean;
  configuration: { packages?: { registryType: string; identifier: string }[]; remotes?: { url: string }[] };
}

interface Page {
  items: GalleryServer[];
  hasMore: boolean;
}

export interface Gallery {
  query(options: { text: string }): Promise<{ firstPage: Page; getNextPage(token: object): Promise<Page> }>;
  getMcpServersFromGallery(infos: { name: string }[]): Promise<GalleryServer[]>;
}

const PLATFORM = '@codingame/monaco-vscode-mcp-service-override/vscode/src/vs/platform/mcp/common';
const BUFFER = '@codingame/monaco-vscode-api/vscode/src/vs/base/common/buffer.js';

export async function openGallery(registry: string): Promise<{ gallery: Gallery; requests: string[] }> {
  const load = (path: string) => import(pathToFileURL(moduleOf('vscode', path)).href);
  const { McpGalleryService } = await load(`${PLATFORM}/mcpGalleryService.js`);
  const { McpGalleryManifestService } = await load(`${PLATFORM}/mcpGalleryManifestService.js`);
  const { bufferToStream, VSBuffer } = await load(BUFFER);
  const requests: string[] = [];
  const http = {
    async request({ url, type }: { url: string; type: string }) {
      requests.push(url.slice(registry.length));
      const reply = await fetch(url, { method: type });
      const body = new Uint8Array(await reply.arrayBuffer());
      const res = { statusCode: reply.status, headers: Object.fromEntries(reply.headers) };
      return { res, stream: bufferToStream(VSBuffer.wrap(body)) };
    },
  };
  const ignore = () => {};
  const log = { info: ignore, error: ignore, trace: ignore, debug: ignore, warn: ignore };
  const manifests = new McpGalleryManifestService({}, http, log);
  // VS Code reads the registry from a setting.
  manifests.getMcpGalleryManifest = async () => manifests.createMcpGalleryManifest(registry);
  return { gallery: new McpGalleryService(http, {}, log, manifests), requests };
}
