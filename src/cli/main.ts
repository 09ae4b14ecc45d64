// The command line: which commands there are, and what a failure looks like.
import { Command, CommanderError } from 'commander';
import type { Environment } from '../config.ts';
import { SettingError, StartError } from '../errors.ts';
import { VERSION } from '../version.ts';
import { withEnvFile } from './environment.ts';

export interface Terminal {
  environment: Environment;
  isTerminal: boolean;
  write: (text: string) => void;
  writeError: (text: string) => void;
  shutdown: AbortSignal;
}

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** The exit code. */
export async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await commands(terminal).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    if (error instanceof SettingError) return fail(EXIT_USAGE, error);
    if (error instanceof StartError) return fail(EXIT_FAILED, error);
    throw error;
  }

  function fail(exitCode: number, { message }: Error): number {
    terminal.writeError(`hub: ${message}\n`);
    return exitCode;
  }
}

function commands({ environment, isTerminal, write, writeError, shutdown }: Terminal): Command {
  const program = new Command('hub')
    .description('A catalog of agents, tools and MCP servers.')
    .version(VERSION, '-V, --version', 'print the version')
    .configureOutput({ writeOut: write, writeErr: writeError })
    .exitOverride()
    .showHelpAfterError();

  program
    .command('serve')
    .description('start the hub; settings come from the environment and from .env in this folder')
    .option('--demo', 'with a small sample catalog, in a database of its own')
    .addHelpText(
      'after',
      '\nExamples:\n  hub serve --demo\n  PORT=8080 API_TOKEN=… hub serve\n  DATABASE_URL=postgres://… hub serve',
    )
    .action(async ({ demo = false }: { demo?: boolean }) => {
      // Only now: most of the hub's code is for serving, and other commands should not wait for it to load.
      const { serve } = await import('./serve.ts');
      await serve({
        environment: withEnvFile(environment),
        demo,
        isTerminal,
        shutdown,
        say: (line) => writeError(`${line}\n`),
      });
    });

  program
    .command('version')
    .description('print the version')
    .action(() => write(`${VERSION}\n`));

  return program;
}
