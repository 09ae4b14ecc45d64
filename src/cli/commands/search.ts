// `hub search`.
import { ENTITY_TYPES } from '../../catalog/uid.ts';
import type { HubOperations } from '../../hub/operations.ts';
import {
  RERANKS,
  SEARCH_MODES,
  type SearchItem,
  type SearchPage,
  SORTS,
  VERSION_CHOICES,
} from '../../search/contract.ts';
import { searchQuery } from '../../search/search-query.ts';
import { command } from '../command.ts';
import { flag, list, oneOf, paging } from '../options.ts';
import type { Output } from '../output/output.ts';
import { oneLine, plural, wrapped } from '../output/text.ts';

const MOST_FACET_VALUES = 8;
const PATIENCE_MS = 10_000;
const EMPTY_CATALOG = "Nothing found: the catalog is empty. 'hub remotes add <url>' and 'hub sync' fill it.\n";

const ONLY_NEAREST = 'No result contains a word of the query. These are the nearest in meaning, and may be unrelated.';

const RERANKED: Record<NonNullable<SearchPage['rerank']>, string> = {
  applied: 'A language model reordered the best results.',
  unavailable: 'No language model is available, so the results were not reordered.',
  failed: 'The language model returned an unusable order, so the results were not reordered.',
};

export const searchCommands = [
  command({
    path: ['search'],
    isShort: true,
    summary: 'find agents, tools and MCP servers by what they do',
    details:
      'Enter words, a question, a name or an id; typing errors are tolerated. Without words, lists the catalog, newest first.',
    kind: 'hub',
    args: [{ name: '[words...]', description: 'what to look for' }],
    options: {
      type: oneOf('-t, --type <type>', 'only this type', [...ENTITY_TYPES, 'any']),
      capabilities: list(
        '--capabilities <list>',
        'with any of these capabilities or tags, separated by commas; quote values that contain a comma',
      ),
      frameworks: list('--frameworks <list>', 'for any of these frameworks'),
      providers: list('--providers <list>', 'from any of these providers'),
      transports: list('--transports <list>', 'with any of these transports'),
      mode: oneOf('-m, --mode <mode>', 'how to search', SEARCH_MODES),
      rerank: oneOf('--rerank <how>', 'whether a language model reorders the best results', RERANKS),
      sort: oneOf('--sort <order>', 'sort order, relevance by default', SORTS),
      versions: oneOf('--versions <which>', 'which versions of each name to show, latest by default', VERSION_CHOICES),
      ...paging('results', { most: 100, fallback: undefined }),
      includeInactive: flag('--include-inactive', 'include disabled and missing entities'),
      registered: flag('--registered', 'leave out MCP servers that are not registered with the gateway'),
      prerelease: flag('--prerelease', 'use the newest version, even if it is a pre-release'),
      withFitReason: flag('--why', 'say why each result matches'),
      withSnippets: flag('--snippets', 'show about 200 characters of the text, around the words you searched for'),
      withFacets: flag('--facets', 'also show counts by type, capability, framework, provider and transport'),
    },
    examples: [
      ['hub search "read tables out of pdf files"', 'by description'],
      ['hub search postgres --type mcp_server --why', 'only servers, with the reason for each'],
      ['hub search --limit 5 --json', 'the five newest entities, for a program'],
      ['hub search --type agent --sort name', 'all agents by name'],
      ['HUB_URL=https://hub.example.org hub search calendar', 'in the catalog of another hub'],
    ],
    async run({ args, options: { registered, ...request }, output, access, terminal }) {
      const text = args.join(' ');
      const hub = await access.open();
      // A server has its vectors in memory; this process loads them first and computes missing ones.
      if (text !== '' && request.mode !== 'keyword')
        await output.working((progress) => {
          progress.show('reading the catalog…');
          return access.settle({ withinMs: PATIENCE_MS });
        });
      terminal.shutdown.throwIfAborted();
      // Without a query, versions of one name would fill the list, so only the newest is shown, with a count.
      const versions = request.versions ?? (text.trim() === '' ? 'latest' : undefined);
      const page = await hub.search(searchQuery({ ...request, text, versions, includePending: !registered }));
      const isEmpty = page.total === 0 && (await isCatalogEmpty(hub));
      if (page.degraded) output.note(`hub: ${page.degraded}`);
      if (page.only_by_meaning) output.note(`hub: ${ONLY_NEAREST}`);
      // In this process, the log has already reported the failure and its reason.
      const isLogged = page.rerank === 'failed' && access.serverUrl === undefined;
      if (page.rerank && !isLogged) output.note(`hub: ${RERANKED[page.rerank]}`);
      return output.answer(page, () => (isEmpty ? EMPTY_CATALOG : resultsForPeople(page, output)));
    },
  }),
];

async function isCatalogEmpty(hub: Pick<HubOperations, 'listCatalog'>): Promise<boolean> {
  return (await hub.listCatalog({ text: '', sort: 'name', limit: 1, offset: 0 })).total === 0;
}

function resultsForPeople({ items, total, facets }: SearchPage, output: Output): string {
  const { style } = output;
  if (items.length === 0)
    return total > 0 ? `End of the list; ${plural(total, 'result')} in total.\n` : 'Nothing found.\n';
  const results = items.map((item) => {
    const more = item.version_count > 1 ? style.faint(` (${plural(item.version_count, 'version')})`) : '';
    const status = item.status === 'active' ? '' : style.warning(` ${oneLine(item.status)}`);
    return [
      `${style.strong(oneLine(item.id))}${status}${trustMark(item, output)}${more}`,
      ...wrapped(oneLine(aboutItem(item)), output.columns - 4).map((line) => `    ${line}`),
      ...(item.fit_reason ? [`    ${style.faint(oneLine(item.fit_reason))}`] : []),
    ].join('\n');
  });
  const counts = Object.entries(facets ?? {})
    .filter(([, values]) => values.length > 0)
    .map(([facet, values]) => {
      const shown = values.slice(0, MOST_FACET_VALUES).map(({ value, count }) => oneLine(`${value} ${count}`));
      return `${style.strong(oneLine(facet))}: ${shown.join(', ')}${values.length > MOST_FACET_VALUES ? ', …' : ''}\n`;
    });
  const shown = `${plural(items.length, 'result')} of ${total.toLocaleString('en-US')}`;
  return `${results.join('\n')}\n\n${counts.join('')}${style.faint(`${shown}. Run 'hub show <id>' for details.`)}\n`;
}

/** Unchecked and unsigned entries get no mark, because they are the usual case. */
function trustMark({ trust_state }: SearchItem, { style }: Output): string {
  if (trust_state === 'verified') return style.good(' signature verified');
  return trust_state === 'failed' ? style.bad(' signature failed') : '';
}

function aboutItem({ title, summary, snippet }: SearchItem): string {
  return [title, snippet ?? summary].filter(Boolean).join(': ');
}
