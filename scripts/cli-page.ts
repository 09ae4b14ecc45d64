// docs/cli.md, from the command table.
import type { ArgumentSpec, Command, OptionSpec } from '../src/cli/command.ts';
import { COMMAND_TABLE } from '../src/cli/command-table.ts';
import { EXIT_CODES } from '../src/cli/exit-codes.ts';
import { optionsOf } from '../src/cli/options.ts';

export function cliPage(generated: string): string {
  return `${generated}
# Command line

\`hub\` finds, installs and looks after the catalog from a terminal. In a checkout it is \`npm run -s hub --\`; from the
package that \`npm pack\` makes, \`npx ./catalog-hub-*.tgz\`, or \`hub\` once it is installed (\`npm install -g ./catalog-hub-*.tgz\`).
\`hub <command> --help\` shows what is below.

**Which catalog.** With \`--hub URL\` or \`HUB_URL\`, a command uses the catalog of the hub at that address. Otherwise it uses the local one, in
process, also while a hub uses it: the one that \`DATABASE_URL\`, \`DB_PATH\` or \`DATA_DIR\` name, or \`./data/catalog.sqlite\` if it exists, or
\`catalog.sqlite\` in the data folder of the user: \`$XDG_DATA_HOME/catalog-hub\` (\`~/.local/share/catalog-hub\`),
\`~/Library/Application Support/catalog-hub\` on macOS, \`%LOCALAPPDATA%\\catalog-hub\` on Windows. Only commands that have something to keep make a
new catalog; all others say what to do, with exit code 3.

**Which machine.** \`hub install\` and the commands that look after installed entities work on this machine and this folder, or the one of
\`--target\`, wherever the catalog is. \`hub install --on-hub\` installs on the machine of the hub.

**Settings** come from the environment. Only \`hub serve\` also reads \`.env\` in its folder.

**The token** of a hub elsewhere comes from \`HUB_TOKEN\`. Without it, the person at the terminal is asked once a command needs it; what
is typed is not shown. There is no option for it: command lines can be read by others on the machine.

**Answers** are for people: tables as wide as the terminal, colours only on one, and none with \`NO_COLOR\`. Errors,
notes and progress go to standard error.

**For programs** there is \`--json\`. The answer is JSON on standard output; an error is one line of JSON, the last one on standard error, with
\`code\` (one of the [error codes](errors.md), or \`usage\`, \`not_found\`, \`unreachable\`, \`stopped\`, \`failed\`), \`detail\`, which is a sentence, and
\`exit_code\`. Progress is shown only on a terminal.

**\`--quiet\`** prints only errors and, with \`--json\`, the answer.

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
