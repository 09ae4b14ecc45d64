// Builds the parser and its help from the command table.
import { Argument, Command as CommanderCommand, InvalidArgumentError, Option } from 'commander';
import { VERSION } from '../version.ts';
import type { Command, CommandTable, OptionSpec } from './command.ts';
import { type Ending, UsageError } from './exit-codes.ts';
import { createAccess } from './hub/reach-hub.ts';
import { optionsOf } from './options.ts';
import { createOutput } from './output/output.ts';
import { wrapped } from './output/text.ts';
import type { Terminal } from './terminal/terminal.ts';

export interface ProgramOptions {
  table: CommandTable;
  terminal: Terminal;
  /** Where the parser writes help and errors of the command line. */
  parsing: Pick<Terminal, 'write' | 'writeError' | 'columns'>;
  /** Called with the result of the command. */
  onEnd: (ending: Ending) => void;
}

export function createProgram(options: ProgramOptions): CommanderCommand {
  const { table, parsing } = options;
  const { write, writeError, columns } = parsing;
  const program = new CommanderCommand('hub')
    .description('A catalog of agents, tools and MCP servers.')
    .version(VERSION, '-V, --version', 'print the version')
    .configureOutput({
      writeOut: write,
      writeErr: writeError,
      getOutHelpWidth: () => columns,
      getErrHelpWidth: () => columns,
    })
    // Global options go before the command.
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError("'hub --help' lists the commands.")
    .addHelpText('after', '\nFor details and examples: hub <command> --help');
  const groups = new Map<string, CommanderCommand>();
  const sections = Object.values(table.sections);
  for (const command of table.commands) {
    const [first = '', second] = command.path;
    program.commandsGroup(`${sections.find(({ commands }) => commands.includes(first))?.title}:`);
    if (second !== undefined && !groups.has(first)) groups.set(first, addGroup(program, first, table));
    addCommand(groups.get(first) ?? program, command, options);
  }
  // The help command belongs to the last section instead of its own.
  return program.helpCommand(true);
}

function addGroup(program: CommanderCommand, name: string, { commands, groups }: CommandTable): CommanderCommand {
  const words = commands.filter(({ path }) => path[0] === name).map(({ path }) => path[1]);
  return program
    .command(name)
    .description(groups[name] ?? '')
    .showHelpAfterError(`'hub ${name} --help' explains its commands: ${words.join(', ')}.`);
}

function addCommand(
  parent: CommanderCommand,
  command: Command,
  { table, terminal, parsing, onEnd }: ProgramOptions,
): void {
  const parser = parent
    .command(command.path.at(-1) ?? '', { hidden: command.isInternal === true })
    .description(command.summary);
  for (const { name, description, choices } of command.args ?? []) {
    const argument = new Argument(name, description);
    parser.addArgument(choices ? argument.choices(choices) : argument);
  }
  const options = Object.entries(optionsOf(command)).map(([key, spec]) => ({ key, option: parserOption(spec), spec }));
  for (const { option } of options) parser.addOption(option);
  parser.addHelpText('after', helpAfter(command, parsing.columns));
  // The full help would scroll the error away.
  parser.showHelpAfterError(`'hub ${command.path.join(' ')} --help' shows usage and examples.`);
  parser.action(async () => {
    const given = parser.opts();
    const values = Object.fromEntries(
      options.map(({ key, option, spec }) => [key, given[option.attributeName()] ?? spec.fallback]),
    );
    onEnd(await runCommand(command, { args: parser.args, values, table, terminal }));
  });
}

function parserOption({ flags, description, choices, fallback, read }: OptionSpec<unknown>): Option {
  const shown =
    fallback === undefined || fallback === false || Array.isArray(fallback) ? '' : ` (default: ${fallback})`;
  const option = new Option(flags, `${description}${choices ? `: ${choices.join(', ')}` : ''}${shown}`);
  if (!read) return option;
  return option.argParser((value, before: unknown) => {
    try {
      return read(value, before);
    } catch (error) {
      if (error instanceof UsageError) throw new InvalidArgumentError(`It ${error.message}.`);
      throw error;
    }
  });
}

function helpAfter({ details, examples }: Command, columns: number): string {
  const lines = examples.map(([line, does]) => `  ${line}${does && `\n      ${does}`}`);
  return `${details ? `\n${wrapped(details, columns).join('\n')}\n` : ''}\nExamples:\n${lines.join('\n')}`;
}

interface Invocation {
  args: readonly string[];
  values: Record<string, unknown>;
  table: CommandTable;
  terminal: Terminal;
}

async function runCommand(command: Command, { args, values, table, terminal }: Invocation): Promise<Ending> {
  const { hub: named, json: isJson, quiet: isQuiet, ...options } = values;
  const access = createAccess({ named: named as string | undefined, terminal, mayBlock: command.isShort });
  const output = createOutput(terminal, { isJson: isJson === true, isQuiet: isQuiet === true });
  try {
    return await command.run({ args, options, terminal, output, access, table });
  } finally {
    await access.close();
  }
}
