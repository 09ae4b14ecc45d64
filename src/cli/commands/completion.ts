// `hub completion`, and `hub complete`, which completion scripts call.
import { ENTITY_TYPES, parseReference } from '../../catalog/uid.ts';
import type { HubOperations } from '../../hub/operations.ts';
import { searchQuery } from '../../search/search-query.ts';
import { type Call, command, type NameKind } from '../command.ts';
import { type Candidate, candidatesAfter } from '../completion/candidates.ts';
import { COMPLETION_SCRIPTS } from '../completion/scripts.ts';
import { NotFoundError } from '../exit-codes.ts';
import { openOwnInstall } from '../hub/own-install.ts';

const MOST_NAMES = 50;

export const completionCommands = [
  command({
    path: ['completion'],
    summary: 'print the shell script that completes commands, options and names',
    kind: 'plain',
    args: [{ name: '<shell>', description: 'which shell', choices: Object.keys(COMPLETION_SCRIPTS) }],
    options: {},
    examples: [
      ['source <(hub completion bash)', 'in ~/.bashrc'],
      ['source <(hub completion zsh)', 'in ~/.zshrc, after compinit'],
      ['hub completion fish > ~/.config/fish/completions/hub.fish', ''],
    ],
    async run({ args: [shell = ''], terminal }) {
      terminal.write(COMPLETION_SCRIPTS[shell] ?? '');
      return 'ok';
    },
  }),
  command({
    path: ['complete'],
    isShort: true,
    summary: 'print what can follow the words of a command line; completion scripts call it',
    isInternal: true,
    details: 'Each line has a word and its description. If no local catalog exists, it is not created.',
    kind: 'plain',
    args: [{ name: '[words...]', description: 'the words after hub; the last one is incomplete' }],
    options: {},
    examples: [['hub complete -- remotes a', '']],
    async run({ args, ...call }) {
      const current = args.at(-1) ?? '';
      const found = candidatesAfter(args.slice(0, -1), current, call.table);
      const candidates = typeof found === 'string' ? await namesFor(found, current, call) : found;
      const lines = candidates
        .filter(({ word }) => fits(word, current, { isId: found === 'ids' }))
        .map(({ word, description }) => `${word}${description && `\t${description}`}\n`);
      call.terminal.write(lines.join(''));
      return 'ok';
    },
  }),
];

/** Ids also fit if their slug, or its last part, starts with the text. */
function fits(word: string, typed: string, { isId }: { isId: boolean }): boolean {
  const [text, start] = [word.toLowerCase(), typed.toLowerCase()];
  return text.startsWith(start) || (isId && [':', '/'].some((mark) => text.includes(`${mark}${start}`)));
}

async function namesFor(kind: NameKind, start: string, call: NameCall): Promise<Candidate[]> {
  const names = await NAMES[kind](start, call);
  // A shell would split or expand a name with other characters.
  const usable = names.filter((name) => /^[\w@.:/+,%=-]+$/.test(name));
  return [...new Set(usable)].sort().map((word) => ({ word, description: '' }));
}

const FIRST_BY_NAME = { text: '', sort: 'name', limit: MOST_NAMES, offset: 0 } as const;

type NameCall = Pick<Call, 'access' | 'terminal' | 'output'>;

const NAMES: Record<NameKind, (start: string, call: NameCall) => Promise<string[]>> = {
  /** Ids, if the text has a type; otherwise slugs, names, and last parts of names. */
  async entities(start, call) {
    if (start.includes(':')) return NAMES.ids(start, call);
    const hub = await openExisting(call);
    if (!hub) return [];
    const query = searchQuery({ text: start, mode: 'keyword', limit: MOST_NAMES });
    // Search finds whole words and typing errors.
    const [searched, listed] = await Promise.all([hub.search(query), listedAs(start, hub)]);
    const slugs = listed.bySlug.map(({ id }) => parseReference(id)?.slug ?? id);
    return [...[...searched.items, ...listed.byLastPart].flatMap(withLastPart), ...slugs];
  },
  async ids(start, call) {
    const hub = await openExisting(call);
    if (!hub) return [];
    const { items } = await hub.listCatalog({ ...FIRST_BY_NAME, idPrefix: start });
    const listed = start.includes(':') ? { byLastPart: [], bySlug: [] } : await listedAs(start, hub);
    return [...items, ...listed.bySlug, ...listed.byLastPart].map(({ id }) => id);
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

/** Entities whose slug, or the last part of whose name, starts with the text. */
async function listedAs(start: string, hub: HubOperations) {
  const [byLastPart, ...bySlug] = await Promise.all([
    hub.listCatalog({ ...FIRST_BY_NAME, text: `/${start}` }),
    ...ENTITY_TYPES.map((type) => hub.listCatalog({ ...FIRST_BY_NAME, idPrefix: `${type}:${start}` })),
  ]);
  return { byLastPart: byLastPart.items, bySlug: bySlug.flatMap(({ items }) => items) };
}

function namesIn(list: { items: readonly { name: string }[] } | undefined): string[] {
  return list?.items.map(({ name }) => name) ?? [];
}

/** Users may write `clock` for `io.example/clock`. */
function withLastPart({ name }: { name: string }): string[] {
  return [name, name.slice(name.lastIndexOf('/') + 1)];
}

function openExisting({ access }: NameCall): Promise<HubOperations | undefined> {
  return access.open().catch((error) => {
    if (!(error instanceof NotFoundError)) throw error;
    return undefined;
  });
}
