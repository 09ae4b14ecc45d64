// `hub remotes rejections`.
import type { RejectionPage } from '../../remotes/contract.ts';
import { command } from '../command.ts';
import { paging } from '../options.ts';
import type { Output } from '../output/output.ts';
import { oneLine, plural } from '../output/text.ts';
import { checkListed, checkName } from '../remote-names.ts';

export const rejectionsCommand = command({
  path: ['remotes', 'rejections'],
  isShort: true,
  summary: 'list refused manifests, with the reasons',
  details: 'Covers the last ingest of each remote, including manifests that could not be fetched.',
  kind: 'hub',
  args: [{ name: '[remote]', description: 'only for the remote with this address or name', names: 'remotes' }],
  options: paging('manifests', { most: 1000, fallback: 100 }),
  examples: [
    ['hub remotes rejections', 'of all remotes'],
    ['hub remotes rejections https://catalog.example.org/index.json --json', 'of one, for a program'],
  ],
  async run({ args: [url], options: { limit, offset }, output, access }) {
    const hub = await access.open();
    if (url !== undefined) await checkName(url, hub);
    const page = await hub.listRejections({ ...(url === undefined ? {} : { url }), limit, offset });
    // An address that is not in the list may have been ingested once.
    if (url !== undefined && page.total === 0) await checkListed(url, hub);
    return output.answer(page, () => rejectionsForPeople(page, { output, url }));
  },
});

function rejectionsForPeople(
  { items, total }: RejectionPage,
  { output, url }: { output: Output; url: string | undefined },
): string {
  if (total === 0) return `No manifest ${url === undefined ? '' : `of ${oneLine(url)} `}was refused.\n`;
  if (items.length === 0) return `End of the list; ${plural(total, 'manifest')} in total.\n`;
  const rows = output.table(items, [
    { title: 'Manifest', text: (item) => item.url },
    { title: 'Why', text: ({ error }) => error, style: (text) => output.style.bad(text), isFlexible: true },
  ]);
  return `${rows}\n${output.style.faint(`${items.length} of ${plural(total, 'manifest')}`)}\n`;
}
