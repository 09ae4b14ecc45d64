// What can follow the words of a command line, for shell completion.
import type { Command, CommandTable, NameKind } from '../command.ts';
import { optionsOf } from '../options.ts';

export interface Candidate {
  word: string;
  description: string;
}

const HELP_OPTION = { flags: '-h, --help', description: 'display help for command' };
const VERSION_OPTION = { flags: '-V, --version', description: 'print the version' };

/** Either words, or the kind of names that the caller should look up. `before` are the complete words of the line. */
export function candidatesAfter(
  before: readonly string[],
  current: string,
  table: CommandTable,
): readonly Candidate[] | NameKind {
  const commands = table.commands.filter(({ isInternal }) => !isInternal);
  const command = commands.find(({ path }) => path.every((word, index) => before[index] === word));
  if (command) return candidatesOf(command, before.at(-1) ?? '', current);
  if (before.length > 1) return [];
  const [group] = before;
  if (current.startsWith('-')) return optionWords(group === undefined ? [VERSION_OPTION, HELP_OPTION] : [HELP_OPTION]);
  if (group === undefined) return firstWords(commands, table);
  return commands
    .filter(({ path }) => path[0] === group)
    .map(({ path, summary }) => ({ word: path[1] ?? '', description: summary }));
}

function candidatesOf(command: Command, previous: string, current: string): readonly Candidate[] | NameKind {
  const options = Object.values(optionsOf(command));
  const [start, name = previous] = /^(--[\w-]+)=/.exec(current) ?? [''];
  const asked = options.find(({ flags }) => flags.includes('<') && namesIn(flags).includes(name));
  if (asked) return plainWords(asked.choices?.map((choice) => `${start}${choice}`));
  if (current.startsWith('-')) return optionWords([...options, HELP_OPTION]);
  const { args = [] } = command;
  return args.find(({ names }) => names)?.names ?? plainWords(args.flatMap(({ choices = [] }) => choices));
}

function firstWords(commands: readonly Command[], { groups }: CommandTable): Candidate[] {
  const summaries = new Map(commands.map(({ path: [first = ''], summary }) => [first, groups[first] ?? summary]));
  return [...summaries].map(([word, description]) => ({ word, description }));
}

function optionWords(options: readonly { flags: string; description: string }[]): Candidate[] {
  return options.flatMap(({ flags, description }) => namesIn(flags).map((word) => ({ word, description })));
}

function plainWords(words: readonly string[] = []): Candidate[] {
  return words.map((word) => ({ word, description: '' }));
}

/** `-n, --limit <number>` → `-n` and `--limit` */
function namesIn(flags: string): string[] {
  return flags.match(/(?<![\w-])--?[\w-]+/g) ?? [];
}
