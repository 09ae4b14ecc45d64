// The words that can follow each other on a command line, for shell completion.
import type { Command, CommandTable, NameKind } from '../command.ts';
import { optionsOf } from '../options.ts';

export interface CompletedOption {
  /** `--limit`, without its value. */
  long: string;
  /** `n`, if the option has a short form. */
  short: string | undefined;
  description: string;
  /** The kind of value that follows: none, a word from a list, a path, or free text. */
  value: 'none' | 'words' | 'path' | 'text';
  words: readonly string[];
}

export interface CompletedCommand {
  /** `remotes add` */
  line: string;
  summary: string;
  /** Possible next words: the commands of a group, or the choices of an argument. */
  next: readonly { word: string; summary: string }[];
  /** Whether one of its arguments is a path. */
  takesPath: boolean;
  /** The argument for `hub names`. */
  names?: NameKind | undefined;
  options: readonly CompletedOption[];
}

const HELP_OPTION = plainOption('-h, --help', 'display help for command');
const VERSION_OPTION = plainOption('-V, --version', 'print the version');

/** The first entry stands for the beginning of the line. */
export function completedCommands({ commands: all, groups }: CommandTable): CompletedCommand[] {
  const commands = all.filter(({ isInternal }) => !isInternal);
  const first = [...new Set(commands.map(({ path }) => path[0] ?? ''))].map((word) => ({
    word,
    summary: groups[word] ?? commands.find(({ path }) => path[0] === word)?.summary ?? '',
  }));
  const root = { line: '', summary: '', next: first, takesPath: false, options: [VERSION_OPTION, HELP_OPTION] };
  const parents = first
    .filter(({ word }) => word in groups)
    .map(({ word, summary }) => ({
      line: word,
      summary,
      next: commands
        .filter(({ path }) => path[0] === word)
        .map((each) => ({
          word: each.path[1] ?? '',
          summary: each.summary,
        })),
      takesPath: false,
      options: [HELP_OPTION],
    }));
  return [root, ...parents, ...commands.map(completed)];
}

function completed(command: Command): CompletedCommand {
  const { path, summary, args = [] } = command;
  return {
    line: path.join(' '),
    summary,
    next: args.flatMap(({ choices = [] }) => choices.map((word) => ({ word, summary: '' }))),
    takesPath: args.some(({ name }) => isPath(name)),
    names: args.find(({ names }) => names)?.names,
    options: [
      ...Object.values(optionsOf(command)).map(({ flags, description, choices = [] }): CompletedOption => {
        const value = choices.length > 0 ? 'words' : isPath(flags) ? 'path' : flags.includes('<') ? 'text' : 'none';
        return { ...namesIn(flags), description, value, words: choices };
      }),
      HELP_OPTION,
    ],
  };
}

function plainOption(flags: string, description: string): CompletedOption {
  return { ...namesIn(flags), description, value: 'none', words: [] };
}

function namesIn(flags: string): { long: string; short: string | undefined } {
  return { long: /--[\w-]+/.exec(flags)?.[0] ?? '', short: /^-(\w)\b/.exec(flags)?.[1] };
}

function isPath(text: string): boolean {
  return /[<[](file|folder|path)\b/.test(text);
}

/** The long and the short form. */
export function namesOf({ long, short }: CompletedOption): string[] {
  return short ? [long, `-${short}`] : [long];
}

export function quoted(text: string): string {
  return `"${text}"`;
}
