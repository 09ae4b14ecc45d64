// `hub completion`, and `hub names`, which completion scripts call.
import { ENTITY_TYPES, parseReference } from '../../catalog/uid.ts';
import type { HubOperations } from '../../hub/operations.ts';
import { searchQuery } from '../../search/search-query.ts';
import { type Call, command, NAME_KINDS, type NameKind } from '../command.ts';
import { openOwnInstall } from '../hub/own-install.ts';
import { whenIndexed } from '../hub/when-indexed.ts';

const MOST_NAMES = 50;
const SHELLS = ['bash', 'zsh', 'fish'] as const;

export const completionCommands = [
  command({
    path: ['completion'],
    summary: 'print the shell script that completes commands, options and names',
    kind: 'plain',
    args: [{ name: '<shell>', description: 'which shell', choices: SHELLS }],
    options: {},
    examples: [
      ['source <(hub completion bash)', 'in ~/.bashrc'],
      ['source <(hub completion zsh)', 'in ~/.zshrc, after compinit'],
      ['hub completion fish > ~/.config/fish/completions/hub.fish', ''],
    ],
    async run({ args: [shell], table, terminal }) {
      const scripts: Record<string, () => Promise<string>> = {
        bash: async () => (await import('../completion/bash.ts')).bashCompletion(table),
        zsh: async () => (await import('../completion/zsh.ts')).zshCompletion(table),
        fish: async () => (await import('../completion/fish.ts')).fishCompletion(table),
      };
      terminal.write((await scripts[shell ?? '']?.()) ?? '');
      return 'ok';
    },
  }),
  command({
    path: ['names'],
    isShort: true,
    summary: 'print names that start with a text, for shell completion',
    isInternal: true,
    details: 'If no local catalog exists, prints nothing and does not create one.',
    kind: 'hub',
    args: [
      { name: '<kind>', description: 'kind of names', choices: NAME_KINDS },
      { name: '[start]', description: 'text that the names start with' },
    ],
    options: {},
    examples: [
      ['hub names entities pdf', 'of the catalog'],
      ['hub names installed', 'of what is installed in this folder'],
    ],
    async run({ args: [kind, start = ''], ...call }) {
      const found = await NAMES[kind as NameKind](start, call);
      // A shell would split or expand a name with other characters.
      const isUsable = (name: string) =>
        name.toLowerCase().startsWith(start.toLowerCase()) && /^[\w@.:/+,%=-]+$/.test(name);
      const names = [...new Set(found)].filter(isUsable).sort();
      return call.output.answer(names, () => names.map((name) => `${name}\n`).join(''));
    },
  }),
];

const FIRST_BY_NAME = { text: '', sort: 'name', limit: MOST_NAMES, offset: 0 } as const;

type NameCall = Pick<Call, 'access' | 'terminal' | 'output'>;

const NAMES: Record<NameKind, (start: string, call: NameCall) => Promise<string[]>> = {
  /** Ids, if the text has a type; otherwise slugs, names, and last parts of names. */
  async entities(start, call) {
    if (start.includes(':')) return NAMES.ids(start, call);
    const hub = await openExisting(call);
    if (!hub) return [];
    const query = searchQuery({ text: start, mode: 'keyword', limit: MOST_NAMES });
    const [searched, lastParts, ...bySlug] = await Promise.all([
      whenIndexed(() => hub.search(query), call),
      // Search finds whole words and typing errors; the list also finds names whose last part starts with the text.
      hub.listCatalog({ ...FIRST_BY_NAME, text: `/${start}` }),
      ...ENTITY_TYPES.map((type) => hub.listCatalog({ ...FIRST_BY_NAME, idPrefix: `${type}:${start}` })),
    ]);
    const slugs = bySlug.flatMap(({ items }) => items.map(({ id }) => parseReference(id)?.slug ?? id));
    return [...[...searched.items, ...lastParts.items].flatMap(withLastPart), ...slugs];
  },
  async ids(start, call) {
    const page = await (await openExisting(call))?.listCatalog({ ...FIRST_BY_NAME, idPrefix: start });
    return page?.items.map(({ id }) => id) ?? [];
  },
  async installed(_start, call) {
    await using own = await openOwnInstall(call, { withCatalog: false });
    return (await own.lockfile('.'))?.entities.flatMap(withLastPart) ?? [];
  },
  async remotes(_start, call) {
    const remotes = await (await openExisting(call))?.listRemotes();
    return remotes?.items.map(({ name, url }) => name ?? url) ?? [];
  },
  async views(_start, call) {
    return namesIn(await (await openExisting(call))?.listViews());
  },
  async tokens(_start, call) {
    return namesIn(await (await openExisting(call))?.listTokens());
  },
  async webhooks(_start, call) {
    return namesIn(await (await openExisting(call))?.listWebhooks());
  },
};

function namesIn(list: { items: readonly { name: string }[] } | undefined): string[] {
  return list?.items.map(({ name }) => name) ?? [];
}

/** Users may write `clock` for `io.example/clock`. */
function withLastPart({ name }: { name: string }): string[] {
  return [name, name.slice(name.lastIndexOf('/') + 1)];
}

function openExisting({ access }: NameCall): Promise<HubOperations | undefined> {
  return access.serverUrl === undefined ? access.findLocal() : access.open();
}
