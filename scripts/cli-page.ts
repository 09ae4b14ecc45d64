// docs/cli.md, from the command table.
import type { ArgumentSpec, Command, OptionSpec } from '../src/cli/command.ts';
import { COMMAND_TABLE } from '../src/cli/command-table.ts';
import { EXIT_CODES } from '../src/cli/exit-codes.ts';
import { optionsOf } from '../src/cli/options.ts';
import { SENT_TO } from '../src/settings.ts';

export function cliPage(generated: string): string {
  return `${generated}
# Command line

\`hub\` finds, installs and looks after the catalog from a terminal. In a checkout it is \`npm run -s hub --\`; from the
package that \`npm pack\` makes, \`npx ./catalog-hub-*.tgz\`, or \`hub\` once it is installed (\`npm install -g ./catalog-hub-*.tgz\`).
\`hub <command> --help\` shows what is below.

**Which hub.** With \`--hub URL\` or \`HUB_URL\`, a command asks the hub at that address. Otherwise it works in process on the local
database that the [settings](settings.md) and \`.env\` name (\`./data/catalog.sqlite\` by default), also while a hub uses it. Where there is none
yet, commands that only read make none: they say what to do instead, with exit code 3. What \`--dry-run\` needs is gone afterwards.

**\`.env\`** of a folder may be that of any project. So a database that is there already, and that only \`.env\` names, is used if it holds a
catalog; only \`hub serve\` makes one in it, other commands end with exit code 3. \`hub install\` with \`--manifest\` or \`--frozen\`
needs none: unless the environment itself names a place for one (\`DATABASE_URL\`, \`DB_PATH\`, \`DATA_DIR\`), it makes none, and what is
wrong in \`.env\` is told and left out. Of a folder's \`.env\`, commands take settings of the hub only; proxies, certificates, \`PATH\` and the like are not
taken from it, nor passed to programs. Where only \`.env\` has an address, the secrets of the environment are not used with it, and a line says so:
${sentTo()}. \`hub serve\` is different: who runs a hub in a folder is taken for the author of its \`.env\`, all of which counts.

**The token** of a hub elsewhere comes from \`HUB_TOKEN\`. Without it, whoever sits at the terminal is asked once a command needs it; what
is typed is not shown. There is no option for it: command lines can be read by others on the machine. A token goes only to an address that
can be trusted as much: when \`HUB_URL\` comes from the \`.env\` of a folder, only a \`HUB_TOKEN\` of the same file, or one that is typed, is sent.

**Answers** are for people: tables as wide as the terminal, colours only on one, and none with \`NO_COLOR\`. Errors,
notes and progress go to standard error.

**For programs** there is \`--json\`. The answer is JSON on standard output; an error is one line of JSON, the last one on standard error, with
\`code\` (one of the [error codes](errors.md), or \`usage\`, \`not_found\`, \`unreachable\`, \`failed\`), \`detail\`, which is a sentence, and
\`exit_code\`. Progress is shown only on a terminal.

**Exit codes**

| Code | Meaning |
|---|---|
${Object.values(EXIT_CODES)
  .map(({ code, meaning }) => `| ${code} | ${meaning} |`)
  .join('\n')}

## Commands

| | |
|---|---|
${COMMAND_TABLE.commands.map((command) => `| [\`${nameOf(command)}\`](#${anchorOf(command)}) | ${sentence(command.summary)} |`).join('\n')}

${COMMAND_TABLE.commands.map(section).join('\n')}`;
}

/** Addresses, each with the secrets that are sent there. */
function sentTo(): string {
  const byAddress = Object.groupBy(Object.entries(SENT_TO), ([, address]) => address);
  const shownSecrets = (pairs: readonly [string, string][] = []) => pairs.map(([secret]) => `\`${secret}\``).join(', ');
  return Object.entries(byAddress)
    .map(([address, pairs]) => `\`${address}\` (${shownSecrets(pairs)})`)
    .join(', ');
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
  return `### ${nameOf(command)}

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

/** What stands in angle brackets would be taken for a tag. */
function shown(text: string): string {
  return text.replace(/<[^\s`]+>|--[a-z][\w-]+/g, '`$&`');
}
