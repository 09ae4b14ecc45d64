// `hub open`.
import { spawn } from 'node:child_process';
import { uidInAddress } from '../../catalog/entity.ts';
import { command } from '../command.ts';
import { UsageError } from '../exit-codes.ts';
import { catalogId } from '../names.ts';
import { oneLine } from '../output/text.ts';

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer.exe' };

export const openCommands = [
  command({
    path: ['open'],
    summary: 'open the web page of the hub, or of one entity, in a browser',
    details:
      'Needs --hub or HUB_URL. The command also prints the address, in case no browser can be started. Set BROWSER to use another program.',
    kind: 'hub',
    args: [
      {
        name: '[id]',
        description: 'a name, or <type>:<slug>@<version>; without the version, the newest stable one',
        names: 'entities',
      },
    ],
    options: {},
    examples: [
      ['hub open --hub http://127.0.0.1:8765', 'the search page'],
      ['hub open mcp_server:postgres-reader', 'the page of one entity'],
    ],
    async run({ args: [name], terminal, output, access }) {
      const { serverUrl } = access;
      if (serverUrl === undefined)
        throw new UsageError("Name the hub with --hub or HUB_URL; 'hub serve --demo' starts one with sample entities.");
      const hub = await access.open();
      const page = name === undefined ? '/' : `/entities/${uidInAddress(await catalogId(name, hub))}`;
      const url = `${serverUrl.replace(/\/+$/, '')}${page}`;
      const opener = terminal.environment.BROWSER ?? OPENERS[process.platform] ?? 'xdg-open';
      const isOpened = await started(opener, url);
      if (!isOpened) output.note(`${opener} could not be started: open the address yourself.`);
      return output.answer({ url, opened: isOpened }, () => `${oneLine(url)}\n`);
    },
  }),
];

/** Resolves whether the program started; the browser outlives the command. */
function started(program: string, url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, [url], { detached: true, stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
