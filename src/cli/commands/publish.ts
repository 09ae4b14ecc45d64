// `hub publish` and `hub validate`: the user's own servers.
import { parseManifestText } from '../../catalog/manifest-text.ts';
import { HubError } from '../../errors.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { Validation } from '../../registry/contract.ts';
import { validateDocument } from '../../registry/publishing/validate.ts';
import { command } from '../command.ts';
import { oneLine } from '../output/text.ts';
import { readText } from '../terminal/read-text.ts';
import type { Terminal } from '../terminal/terminal.ts';

const FILE = { name: '<file>', description: 'a server.json, or a manifest as JSON or YAML; - reads standard input' };
const CHECKED_FILE = {
  name: '<file>',
  description: 'a server.json, or a manifest or agent card as JSON or YAML; - reads standard input',
};

export const publishCommands = [
  command({
    path: ['publish'],
    summary: 'publish your own server',
    details:
      'It is then listed, found, installed and registered like any other, if the policy allows it. A published version is never replaced. On another hub, this needs a token with the role publisher or higher; if the token has a scope, the scope must include the name of the server.',
    kind: 'hub',
    args: [FILE],
    options: {},
    examples: [
      ['hub publish server.json --hub https://hub.example.org', ''],
      ['hub publish manifest.yaml', 'into the local catalog'],
    ],
    async run({ args: [file = ''], output, terminal, access }) {
      const document = await documentIn(file, terminal);
      const hub = await access.open();
      const published = await hub.publishServer(document);
      output.answer(
        published,
        () => `Published: ${oneLine(published.server.name)} ${oneLine(published.server.version)}\n`,
      );
      for (const note of notesOf(published._meta)) output.note(note);
      return 'ok';
    },
  }),
  command({
    path: ['validate'],
    summary: 'check a server.json, a manifest or an agent card without publishing it',
    details:
      'Reports everything that is wrong. The exit code is 0 if the file can be used, even if there are warnings.',
    kind: 'local',
    args: [CHECKED_FILE],
    options: {},
    examples: [['hub validate server.json', '']],
    async run({ args: [file = ''], output, terminal }) {
      const validation = validateDocument(await documentIn(file, terminal));
      output.answer(validation, () => issuesForPeople(validation, file));
      return validation.valid ? 'ok' : 'failed';
    },
  }),
];

/** @throws UsageError, HubError `invalid_manifest` */
async function documentIn(file: string, terminal: Terminal): Promise<JsonObject> {
  const { document } = parseManifestText(file, await readText(file, terminal));
  if (isJsonObject(document)) return document;
  throw new HubError('invalid_manifest', `${file} is not a server.json or a manifest: it must contain an object.`);
}

function issuesForPeople({ valid, issues }: Validation, file: string): string {
  const lines = issues.map(
    ({ severity, path, message }) => `${severity}: ${path ? `${oneLine(path)} ` : ''}${oneLine(message)}\n`,
  );
  return `${lines.join('')}${oneLine(file)} ${valid ? 'is valid' : 'is not valid'}.\n`;
}

function notesOf(meta: JsonObject): string[] {
  return Object.values(meta).flatMap((each) =>
    isJsonObject(each) && typeof each.note === 'string' ? [oneLine(each.note)] : [],
  );
}
