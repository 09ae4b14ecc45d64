// `hub export` and `hub backup`.
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ENTITY_TYPES } from '../../catalog/uid.ts';
import { HubError } from '../../errors.ts';
import { harmlessJson } from '../../lib/harmless.ts';
import { makeFolder } from '../../lib/make-folder.ts';
import { command } from '../command.ts';
import { OutputError, UsageError } from '../exit-codes.ts';
import { exportIndex, exportLines } from '../export.ts';
import { flag, oneOf, text } from '../options.ts';
import { byteCount, plural } from '../output/text.ts';

export const backupCommands = [
  command({
    path: ['export'],
    summary: 'export the whole catalog, as JSON lines or as an index that hubs can read',
    details:
      'The format `jsonl` has one line per entity, with its id, source address and manifest. The format `index` is a folder with index.json and the manifests; serve it from any web server, and other hubs can add it as a remote.',
    kind: 'hub',
    options: {
      format: oneOf('--format <format>', 'what to write', ['jsonl', 'index'], 'jsonl'),
      output: text('-o, --output <folder>', 'folder for an index; JSON lines go to standard output'),
      type: oneOf('-t, --type <type>', 'only this type', ENTITY_TYPES),
      force: flag('--force', 'overwrite an existing index'),
    },
    examples: [
      ['hub export > catalog.jsonl', 'everything, one entity per line'],
      ['hub export --format index --output ./public', 'a folder that can be published'],
      ['hub export --hub https://hub.example.org --type tool > tools.jsonl', 'the tools of another hub'],
    ],
    async run({ options: { format, output: folder, type, force }, terminal, output, access }) {
      if ((format === 'index') !== (folder !== undefined))
        throw new UsageError(
          '--format index needs a folder: --output <folder>. Other formats go to standard output, without --output.',
        );
      if (folder !== undefined) assertFolderIsFree(folder, force);
      const hub = await access.open();
      const write = terminal.isTerminal ? (line: string) => terminal.write(harmlessJson(line)) : terminal.write;
      const count = await output.working((progress) => {
        const onProgress = (done: number, total: number) =>
          progress.show(`${done} of ${plural(total, 'entity', 'entities')}`);
        const request = { hub, type, onProgress, signal: terminal.shutdown };
        return folder === undefined
          ? exportLines({ ...request, write })
          : exportIndex({ ...request, folder: resolve(folder) });
      });
      const counted = plural(count, 'entity', 'entities');
      if (folder !== undefined)
        return output.answer(
          { entities: count, output: resolve(folder), format },
          () => `${counted} written to ${folder}.\n`,
        );
      output.note(`${counted} written.`);
      return 'ok';
    },
  }),
  command({
    path: ['backup'],
    summary: 'copy the local SQLite database to a file, even while a hub uses it',
    details:
      'The copy is consistent and is checked. To restore it, stop the hub, put the file at DB_PATH, and delete the -wal and -shm files next to it. For PostgreSQL, use pg_dump.',
    kind: 'local',
    args: [{ name: '<file>', description: 'file to write; an existing one needs --force' }],
    options: { force: flag('--force', 'overwrite an existing file') },
    examples: [
      ['hub backup /backups/catalog.sqlite', ''],
      ['DB_PATH=/data/catalog.sqlite hub backup copy.sqlite --force', 'another database, replacing the last copy'],
    ],
    async run({ args: [file = ''], options: { force }, output, access }) {
      if (access.serverUrl !== undefined)
        throw new UsageError(
          "'hub backup' works only on the machine of the hub: run it there, without HUB_URL. From here, use 'hub export' to export the catalog.",
        );
      assertFileIsFree(file, force);
      const hub = await access.openLocal();
      if ((await hub.config()).database === 'postgres')
        throw new UsageError(
          `The database is PostgreSQL. Back it up with its own tool: pg_dump --format=custom --file='${file}' "$DATABASE_URL". 'hub export' exports only the catalog.`,
        );
      const made = await makeFolder(dirname(resolve(file))).catch(asOutputError);
      // The path may be a typing error.
      if (made !== undefined) output.note(`hub: Created the folder ${dirname(resolve(file))}.`);
      const { bytes } = await output.working((progress) => {
        progress.show('copying…');
        return hub.backup(resolve(file)).catch(asOutputError);
      });
      return output.answer({ file: resolve(file), bytes }, () => `${byteCount(bytes)} written to ${file}.\n`);
    },
  }),
];

/** For `catch`: system errors name the file, but not what to do. */
function asOutputError(error: Error): never {
  const cause = error instanceof HubError ? error.cause : error;
  const isOfFile = cause instanceof Error && ('syscall' in cause || /disk is full/.test(cause.message));
  throw isOfFile ? new OutputError('The backup', cause) : error;
}

function assertFolderIsFree(folder: string, force: boolean): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new UsageError(`${resolve(folder)} is a file; name a folder.`);
  assertFileIsFree(resolve(folder, 'index.json'), force);
}

function assertFileIsFree(file: string, force: boolean): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isDirectory()) throw new UsageError(`${resolve(file)} is a folder; name a file in it.`);
  if (found && !force) throw new UsageError(`${resolve(file)} already exists; --force overwrites it.`);
}
