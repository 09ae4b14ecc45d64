// `hub serve` and `hub version`.
import { VERSION } from '../../version.ts';
import { command } from '../command.ts';
import { withEnvFile } from '../hub/environment.ts';
import { flag } from '../options.ts';

export const serviceCommands = [
  command({
    path: ['serve'],
    summary: 'start the hub, with settings from the environment and from .env in this folder',
    kind: 'plain',
    options: { demo: flag('--demo', 'use a small sample catalog, in a separate database') },
    examples: [
      ['hub serve --demo', 'a hub with sample entities'],
      ['PORT=8080 API_TOKEN=… hub serve', 'on another port; changes need the token'],
      ['DATABASE_URL=postgres://… hub serve', 'on PostgreSQL'],
    ],
    async run({ options: { demo }, terminal }) {
      // Loaded lazily: serving needs most of the hub's code, and other commands should not wait for it.
      const { serve } = await import('../serve.ts');
      const { environment, isTerminal, shutdown, writeError } = terminal;
      await serve({
        environment: withEnvFile(environment),
        demo,
        isTerminal,
        shutdown,
        say: (line) => writeError(`${line}\n`),
      });
      return 'ok';
    },
  }),
  command({
    path: ['version'],
    summary: 'print the version',
    kind: 'local',
    options: {},
    examples: [['hub version', '']],
    run: async ({ output }) => output.answer({ version: VERSION }, () => `${VERSION}\n`),
  }),
];
