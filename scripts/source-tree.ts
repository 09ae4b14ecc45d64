// Generates docs/source-tree.md, which lists the folders of the source and which may import which, and a page of files for each part.
import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

interface ImportRules {
  slices: readonly string[];
  mayImport: Record<string, readonly string[]>;
}
const RULES: string = '../.dependency-cruiser.mjs';
const { slices, mayImport } = (await import(RULES)) as ImportRules;

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** Files are described by their first line; folders have no such place. */
const FOLDERS: Record<string, string> = {
  src: 'Settings, configuration, errors and the version.',
  'src/access': 'Roles, tokens, sign-in with OpenID Connect, the audit log.',
  'src/bin': 'The executable.',
  'src/catalog': 'The domain: ids, manifests, entities, versions, scores.',
  'src/catalog/launch':
    'Converts a server of a catalog to a working command, and to an entry in the configuration of a client.',
  'src/cli': 'The command line: the command table, and code that commands share.',
  'src/cli/commands': 'One file per group of commands.',
  'src/cli/commands/governance': 'Commands for tokens, policy, approvals, the audit log, webhooks and views.',
  'src/cli/commands/install': '`hub install`, `hub update`, and commands on what is installed.',
  'src/cli/completion': 'Shell completion, generated from the command table.',
  'src/cli/doctor': '`hub doctor`: checks, findings and advice.',
  'src/cli/hub':
    'How commands reach a hub: a server, or a local database in the same process; installs on this machine.',
  'src/cli/output': 'Tables, colors, progress, and text without control sequences.',
  'src/cli/terminal': 'Prompts for answers and secrets, and the log of a command.',
  'src/client': 'The operations of a hub over HTTP.',
  'src/events': 'Webhooks: who receives events, and how they are sent.',
  'src/gateway': 'Registration of MCP servers with a gateway.',
  'src/gateway/client': 'Calls to a gateway: pace, token, and the meaning of responses.',
  'src/gateway/items': 'Finds, compares and removes the items of the hub in the gateway.',
  'src/gateway/registration': 'Registers one entity, or all that are due.',
  'src/http': 'The HTTP server: hooks, limits, errors.',
  'src/http/page': 'Serves the page for browsers.',
  'src/http/routes': 'One file per subject.',
  'src/hub': 'The hub: its operations, who may call them, and which implementation is used for what.',
  'src/hub/parts': 'Each sets up one part of the hub, and chooses its implementation.',
  'src/install':
    'Installs entities into a project: one folder per artifact, built once, marked complete, never changed.',
  'src/install/adapters': 'One template per framework; merging of configuration files.',
  'src/install/artifacts': 'The kinds of artifacts, and how one is built in staging and moved into place.',
  'src/install/artifacts/archive': 'zip, tar and mcpb.',
  'src/install/artifacts/git': 'git repositories.',
  'src/install/artifacts/image': 'Container images.',
  'src/install/artifacts/npm': 'npm packages.',
  'src/install/artifacts/python': 'PyPI packages, with uv or pip.',
  'src/install/lockfile': 'Reads, merges, writes and verifies lockfiles. Knows nothing about kinds of artifacts.',
  'src/install/target': 'The folder of the project: checks, the install lock, and safe file access.',
  'src/lib': 'Code that does not depend on catalogs.',
  'src/lib/net': 'Guarded requests and connections.',
  'src/lib/secrets': 'Credentials in addresses, documents and command lines.',
  'src/lib/workers': 'Worker threads, ordering and waiting.',
  'src/mcp': 'The hub as an MCP server.',
  'src/mcp/answers': 'Short responses, in which untrusted text is clearly marked.',
  'src/mcp/tools': 'The tools.',
  'src/policy': 'Which entities may be seen, installed and registered: pure decisions, and the approval queue.',
  'src/registry': 'The hub as an MCP registry: entries, views, cursors.',
  'src/registry/ard': 'The same entries for Agentic Resource Discovery clients.',
  'src/registry/publishing': 'Servers that teams publish to this hub.',
  'src/remotes': 'The list of remotes, and their sync.',
  'src/remotes/fetching': "Fetches indexes and manifests from other people's hosts.",
  'src/remotes/index-formats': 'One reader per index layout.',
  'src/remotes/ingest': 'Ingests one remote into the catalog.',
  'src/search': 'Search: queries, words and result pages.',
  'src/search/engine': 'The in-memory engine: its threads, its file, and its updates from the catalog.',
  'src/search/index': 'Segments: columns in shared memory. Pure.',
  'src/search/llm': 'Reranking and reasons by a language model, if one is configured.',
  'src/search/model': 'Embedding: the bundled models, or an endpoint.',
  'src/search/postgres': 'The engine that searches in PostgreSQL.',
  'src/search/ranking': 'One query over a snapshot of the index. Pure.',
  'src/store': 'All SQL: the database, its tables and the revision of the catalog.',
  'src/store/catalog': 'Entities.',
  'src/store/dialects': 'SQLite and PostgreSQL, and all their differences.',
  'src/store/events': 'Events, webhooks and deliveries.',
  'src/store/gateway': 'Registrations, and items in the gateway.',
  'src/store/governance': 'Policy, approvals, trust, tokens and the audit log.',
  'src/store/migrations': 'The migrations of the database, by subject; `database.ts` applies them in order.',
  'src/store/registry': 'Entries and views of the registry.',
  'src/store/remotes': 'Remotes, their manifests and runs, and the owner of each entity.',
  'src/store/search': 'The data of the two search engines.',
  'src/trust': 'Verifies signatures of packages and images.',
  'web/src': 'The page for browsers, a separate program: its frame, its routes, its theme.',
  'web/src/api': 'Requests, event streams, errors and the token.',
  'web/src/entity': 'The page of one entity.',
  'web/src/entity/use': 'Install commands, and the configuration of clients.',
  'web/src/governance': 'Approvals, policy, views, signatures.',
  'web/src/install': 'Installs on the machine of the hub: plan, live steps, lockfile.',
  'web/src/markdown': 'Converts a readme to blocks, and blocks to elements; never to HTML.',
  'web/src/operations': 'The operations page: running work, and problems that need attention.',
  'web/src/operations/history': 'Recent ingests.',
  'web/src/operations/pending': 'Servers that are not in the gateway.',
  'web/src/operations/remotes': 'Remotes, and the forms to change them.',
  'web/src/operations/status': 'Status tiles and charts.',
  'web/src/parts': 'Components that pages share.',
  'web/src/search': 'The search page.',
  'web/src/search/keys': 'Keyboard control of the search page.',
};

/** Paths and texts of the pages. */
export function sourceTreePages(generated: string): Record<string, string> {
  const files = globSync('{src,web/src}/**/*.{ts,tsx}', { cwd: ROOT }).sort();
  const found = [...new Set(files.map((path) => dirname(path)))];
  const unknown = found.filter((folder) => !FOLDERS[folder]);
  const gone = Object.keys(FOLDERS).filter((folder) => !found.includes(folder));
  if (unknown.length + gone.length > 0)
    throw new Error(
      `FOLDERS of scripts/source-tree.ts lacks ${unknown.join(', ') || 'nothing'}, and names ${gone.join(', ') || 'nothing'} that no longer exists.`,
    );
  const parts = [...new Set(Object.keys(FOLDERS).map(partOf))];
  const pages = parts.map((part) => [`docs/source-tree/${part}.md`, partPage(generated, part, files)]);
  return { 'docs/source-tree.md': indexPage(generated), ...Object.fromEntries(pages) };
}

/** `src/cli/commands` belongs to `cli`; files in `src` itself to `src`; the page for browsers to `web`. */
function partOf(folder: string): string {
  const [root = '', part] = folder.split('/');
  return root === 'src' ? (part ?? root) : root;
}

function partPage(generated: string, part: string, files: readonly string[]): string {
  const folders = Object.keys(FOLDERS).filter((folder) => partOf(folder) === part);
  return `${generated}
# Source tree: ${part}

Every folder and, below it, the first comment of each file. [All parts](../source-tree.md).

${folders.map((folder) => folderSection(folder, files)).join('\n\n')}
`;
}

function indexPage(generated: string): string {
  return `${generated}
# Source tree

Every folder of the source; the linked pages have the first comment of each file. [Architecture](ARCHITECTURE.md) explains the design.

## Which part may import which

From \`.dependency-cruiser.mjs\`; \`npm run check:imports\` enforces it. Everything may import \`errors\`. Slices: ${code(slices)}.

| | may import |
|---|---|
${Object.entries(mayImport).map(importRow).join('\n')}

## Folders

| | |
|---|---|
${Object.entries(FOLDERS)
  .map(([folder, purpose]) => `| [\`${folder}\`](source-tree/${partOf(folder)}.md) | ${purpose} |`)
  .join('\n')}
`;
}

function importRow([part, imported]: [string, readonly string[]]): string {
  const isAnySlice = slices.every((slice) => imported.includes(slice));
  const named = isAnySlice ? imported.filter((name) => !slices.includes(name)) : imported;
  const words = [named.length > 0 ? code(named) : '', isAnySlice ? 'every slice' : ''].filter(Boolean).join(', ');
  return `| \`${part}\` | ${words || 'nothing'} |`;
}

function folderSection(folder: string, files: readonly string[]): string {
  const rows = files
    .filter((path) => dirname(path) === folder)
    .map((path) => `| \`${path.slice(folder.length + 1)}\` | ${firstLine(path)} |`);
  return `## ${folder}\n\n${FOLDERS[folder]}\n\n| | |\n|---|---|\n${rows.join('\n')}`;
}

/** The first comment of a file, after an interpreter line. */
function firstLine(path: string): string {
  const line =
    readFileSync(`${ROOT}${path}`, 'utf8')
      .split('\n')
      .find((each) => !each.startsWith('#!')) ?? '';
  if (!line.startsWith('// ')) throw new Error(`${path} must begin with a comment that says what it is.`);
  return line.slice(3).replaceAll('|', '\\|');
}

function code(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
