// docs/source-tree.md: every folder and file of the source, and which parts may import which.
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

/** Files say what they are in their first line; folders have no such place. */
const FOLDERS: Record<string, string> = {
  src: 'The hub: its operations, its settings, and the place where everything is wired.',
  'src/access': 'Roles, tokens, sign-in with OpenID Connect, the audit log.',
  'src/bin': 'The executable.',
  'src/catalog': 'The noun: ids, manifests, entities, versions, scores.',
  'src/catalog/launch':
    'What catalogs say about a server → a command that starts, and its entry in the configuration of a client.',
  'src/cli': 'The command line: the table of commands, and what they share.',
  'src/cli/commands': 'One file per group of commands.',
  'src/cli/commands/governance': 'Commands for tokens, policy, approvals, the audit log, webhooks and views.',
  'src/cli/completion': 'Completion for shells, from the table of commands.',
  'src/cli/doctor': '`hub doctor`: what works, what does not, what to do.',
  'src/cli/hub':
    'How commands reach a hub: a server, or a local database in the same process; installs on this machine.',
  'src/cli/output': 'Tables, colors, progress, and text that cannot harm a terminal.',
  'src/cli/terminal': 'Questions, secrets, the log of a command.',
  'src/client': 'The operations of a hub over HTTP.',
  'src/events': 'Webhooks: who receives events, and how they are sent.',
  'src/gateway': 'Registration of MCP servers into a gateway.',
  'src/gateway/client': 'One call to a gateway: its pace, its token, and what the answer means.',
  'src/gateway/items': 'What the hub has in the gateway: found, compared, removed.',
  'src/gateway/registration': 'One entity → the gateway, and everything that is due.',
  'src/http': 'The HTTP server: hooks, limits, errors.',
  'src/http/page': 'Serves the page for browsers.',
  'src/http/routes': 'One file per subject.',
  'src/hub': 'The hub: its operations, who may call them, and which implementation is used for what.',
  'src/install':
    'Installs entities into a project: one folder per artifact, built once, marked complete, never changed.',
  'src/install/adapters': 'One template per framework; merging of configuration files.',
  'src/install/artifacts': 'The kinds of artifacts, and how one is built aside and put in place.',
  'src/install/artifacts/archive': 'zip, tar and mcpb.',
  'src/install/artifacts/git': 'git repositories.',
  'src/install/artifacts/image': 'Container images.',
  'src/install/artifacts/npm': 'npm packages.',
  'src/install/artifacts/python': 'PyPI packages, with uv or pip.',
  'src/install/lockfile': 'Reads, merges, writes and verifies lockfiles. Knows nothing about kinds of artifacts.',
  'src/install/target': 'Where the project is, who may write there, one install at a time, files that stay inside.',
  'src/lib': 'What has nothing to do with catalogs.',
  'src/lib/net': 'Guarded requests and connections.',
  'src/lib/secrets': 'Credentials in addresses, documents and command lines.',
  'src/lib/workers': 'Threads, order, waiting.',
  'src/mcp': 'The hub as an MCP server.',
  'src/mcp/answers': 'Answers that are short, in which text of strangers cannot pass for anything else.',
  'src/mcp/tools': 'The tools.',
  'src/policy': 'Who may see, install and register what: pure decisions, and the queue of approvals.',
  'src/registry': 'The hub as an MCP registry: entries, views, cursors.',
  'src/registry/ard': 'The same entries for clients of Agentic Resource Discovery.',
  'src/registry/publishing': 'Servers that teams publish to this hub.',
  'src/remotes': 'The list of remotes, and their sync.',
  'src/remotes/fetching': "Indexes and manifests, from other people's hosts.",
  'src/remotes/index-formats': 'The layouts of indexes, one reader for each.',
  'src/remotes/ingest': 'One remote → the catalog.',
  'src/search': 'Search: queries, words, pages of results.',
  'src/search/engine': 'The engine in memory: its threads, its file, how it follows the catalog.',
  'src/search/index': 'Segments: columns in shared memory. Pure.',
  'src/search/llm': 'Order and reasons by a language model, where one is configured.',
  'src/search/model': 'Embedding: the models that come with the hub, or an endpoint.',
  'src/search/postgres': 'The engine that searches in PostgreSQL.',
  'src/search/ranking': 'One query over a snapshot of the index. Pure.',
  'src/store': 'All SQL: the database, its tables and the revision of the catalog.',
  'src/store/catalog': 'Entities.',
  'src/store/dialects': 'SQLite and PostgreSQL, and everything that they do differently.',
  'src/store/events': 'Events, webhooks and deliveries.',
  'src/store/gateway': 'Registrations, and items in the gateway.',
  'src/store/governance': 'Policy, approvals, trust, tokens and the audit log.',
  'src/store/migrations': 'The steps that a database went through, in order.',
  'src/store/registry': 'Entries and views of the registry.',
  'src/store/remotes': 'Remotes, what they list, their runs; which remote an entity belongs to.',
  'src/store/search': 'What the two search engines read and write.',
  'src/trust': 'Signatures of packages and images, checked.',
  'web/src': 'The page for browsers, a program of its own: its frame, its addresses, its theme.',
  'web/src/api': 'Requests, event streams, failures, the token.',
  'web/src/entity': 'The page of one entity.',
  'web/src/entity/use': 'How to install it, and the configuration of clients.',
  'web/src/governance': 'Approvals, policy, views, signatures.',
  'web/src/install': 'Installs on the machine of the hub: plan, live steps, lockfile.',
  'web/src/markdown': 'Readme → blocks → elements; never HTML.',
  'web/src/operations': 'The operations page: what is under way, and what needs attention.',
  'web/src/operations/history': 'The last ingests.',
  'web/src/operations/pending': 'Servers that are not in the gateway.',
  'web/src/operations/remotes': 'Remotes, and the forms to change them.',
  'web/src/operations/status': 'Status tiles and charts.',
  'web/src/parts': 'What pages share.',
  'web/src/search': 'The search page.',
  'web/src/search/keys': 'The search page by keyboard.',
};

export function sourceTreePage(generated: string): string {
  const files = globSync('{src,web/src}/**/*.{ts,tsx}', { cwd: ROOT }).sort();
  const found = [...new Set(files.map((path) => dirname(path)))];
  const unknown = found.filter((folder) => !FOLDERS[folder]);
  const gone = Object.keys(FOLDERS).filter((folder) => !found.includes(folder));
  if (unknown.length + gone.length > 0)
    throw new Error(
      `FOLDERS of scripts/source-tree.ts lacks ${unknown.join(', ') || 'nothing'}, and names ${gone.join(', ') || 'nothing'} that is gone.`,
    );
  return `${generated}
# Source tree

Every folder of the source and, below it, what each file says about itself. [Architecture](ARCHITECTURE.md) explains the picture.

## Which part may import which

From \`.dependency-cruiser.mjs\`; \`npm run check:imports\` enforces it. Everything may import \`errors\`. Slices: ${code(slices)}.

| | may import |
|---|---|
${Object.entries(mayImport).map(importRow).join('\n')}

${Object.keys(FOLDERS)
  .map((folder) => folderSection(folder, files))
  .join('\n\n')}
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

/** The comment that every file begins with, after the line that names its interpreter. */
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
