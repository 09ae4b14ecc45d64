// Generates docs/cli.md, the list of commands, and a page for each subject in docs/cli, from the command table.
import type { ArgumentSpec, Command, OptionSpec, Section } from '../src/cli/command.ts';
import { COMMAND_TABLE } from '../src/cli/command-table.ts';
import { EXIT_CODES } from '../src/cli/exit-codes.ts';
import { optionsOf } from '../src/cli/options.ts';
import { OLDEST_NODE } from './without-runtime.ts';

/** Paths and texts of the pages. */
export function cliPages(generated: string): Record<string, string> {
  const pages = Object.entries(COMMAND_TABLE.sections).map(([name, page]) => [
    `docs/cli/${name}.md`,
    subjectPage(generated, page),
  ]);
  return { 'docs/cli.md': indexPage(generated), ...Object.fromEntries(pages) };
}

function subjectPage(generated: string, page: Section): string {
  return `${generated}
# ${page.title}

[Command line](../cli.md) lists all commands, and explains catalogs, tokens, output and exit codes.

${commandsOf(page).map(section).join('\n')}`;
}

function commandsOf({ commands }: Section): Command[] {
  return COMMAND_TABLE.commands.filter(({ path: [first = ''] }) => commands.includes(first));
}

function listed([name, page]: [string, Section]): string {
  const rows = commandsOf(page)
    .filter(({ isInternal }) => !isInternal)
    .map(
      (command) => `| [\`${nameOf(command)}\`](cli/${name}.md#${anchorOf(command)}) | ${sentence(command.summary)} |`,
    );
  return `### ${page.title}\n\n| | |\n|---|---|\n${rows.join('\n')}\n`;
}

function indexPage(generated: string): string {
  const named = new Set(Object.values(COMMAND_TABLE.sections).flatMap(({ commands }) => commands));
  const existing = new Set(COMMAND_TABLE.commands.map(({ path: [first = ''] }) => first));
  const different = [...named, ...existing].filter((name) => !named.has(name) || !existing.has(name));
  if (different.length > 0)
    throw new Error(`The sections of src/cli/command-table.ts are wrong about ${different.join(', ')}.`);
  return `${generated}
# Command line

\`hub\` searches, installs and manages the catalog from a terminal. In a checkout, run \`npm run -s hub -- <command>\`. npm runs it in the checkout, so give
\`--target\` an absolute path. To install the command, pack it in the checkout:

\`\`\`sh
npm pack && npm install -g ./catalog-hub-[0-9]*.tgz
\`\`\`

To use only hubs on other machines, a smaller package is enough, with the command line and the client but without the hub (15 MB instead of 300).
It needs Node ${OLDEST_NODE} or newer:

\`\`\`sh
npm run pack:cli && npm install -g ./catalog-hub-cli-*.tgz
\`\`\`

\`hub <command> --help\` shows the same information as these pages.

**Which catalog.** With \`--hub URL\` or \`HUB_URL\`, a command uses the catalog of the hub at that address. Otherwise it opens the local
catalog, even while a hub uses it. The local catalog is the first of these:

1. the one that \`DATABASE_URL\`, \`DB_PATH\` or \`DATA_DIR\` names
2. \`./data/catalog.sqlite\`, if it exists
3. \`catalog.sqlite\` in the user's data folder: \`$XDG_DATA_HOME/catalog-hub\` (default: \`~/.local/share/catalog-hub\`),
   \`~/Library/Application Support/catalog-hub\` on macOS, \`%LOCALAPPDATA%\\catalog-hub\` on Windows

If no local catalog exists, \`hub remotes add\`, \`hub ingest <address>\` and \`hub mcp\` create one, even if the address cannot be read.
\`hub ingest\` and \`hub sync\` create one if \`HUB_REMOTES\` is set. Other commands that need a catalog say what to do and end with exit code 3.

**Which machine.** \`hub install\` and the commands that manage installed entities work on this machine, in this folder or in \`--target\`,
wherever the catalog is. \`hub install --on-hub\` installs on the hub's machine.

**Settings** come from the environment. Only \`hub serve\` also reads \`.env\` in its working directory.

**The token** for the hub at \`--hub\` comes from \`HUB_TOKEN\`. If it is not set and a command needs a token, the command asks for it in the
terminal, without showing what you type. There is deliberately no option for it, because other users of the machine can read command lines.

**Output** is for people by default: tables as wide as the terminal, with colors unless \`NO_COLOR\` is set or the output is not a terminal.
Errors, notes and progress go to standard error.

**For programs**, use \`--json\`. The result is JSON on standard output. An error is one line of JSON, the last line on standard error, with
\`code\` (one of the [error codes](errors.md), or \`usage\`, \`not_found\`, \`unreachable\`, \`stopped\`, \`failed\`), \`detail\` (a sentence) and
\`exit_code\`. With \`--json\`, progress is shown only on a terminal.

**\`--quiet\`** prints only errors and, with \`--json\`, the result.

**Exit codes**

| Code | Meaning |
|---|---|
${Object.values(EXIT_CODES)
  .map(({ code, meaning }) => `| ${code} | ${meaning} |`)
  .join('\n')}

## Commands

${Object.entries(COMMAND_TABLE.sections).map(listed).join('\n')}`;
}

function nameOf({ path }: Command): string {
  return `hub ${path.join(' ')}`;
}

function anchorOf(command: Command): string {
  return nameOf(command).replaceAll(' ', '-');
}

function section(command: Command): string {
  const { summary, details, args = [], examples } = command;
  const usage = [nameOf(command), ...args.map(({ name }) => name), '[options]'].join(' ');
  return `## ${nameOf(command)}

${shown([sentence(summary), details].filter(Boolean).join(' '))}

\`\`\`
${usage}
\`\`\`

${[...args.map(argumentRow), ...Object.values(optionsOf(command)).map(optionRow)].join('\n')}

\`\`\`sh
${examples.map(([line, does]) => `${line}${does ? `   # ${does}` : ''}`).join('\n')}
\`\`\`
`.replace(/\n{3,}/g, '\n\n');
}

function argumentRow({ name, description, choices }: ArgumentSpec): string {
  return `- \`${name}\`: ${shown(description)}${choices ? ` (${choices.join(', ')})` : ''}`;
}

function optionRow({ flags, description, choices, fallback }: OptionSpec<unknown>): string {
  const isShown = typeof fallback === 'string' || typeof fallback === 'number';
  return `- \`${flags}\`: ${shown(description)}${choices ? ` (${choices.join(', ')})` : ''}${isShown ? `; \`${fallback}\` by default` : ''}`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Escapes angle brackets, which Markdown would read as a tag. */
function shown(text: string): string {
  return text.replace(/<[^\s`]+>|--[a-z][\w-]+/g, '`$&`');
}
