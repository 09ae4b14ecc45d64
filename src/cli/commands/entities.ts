// `hub catalog`, `hub remove`, `hub block` and `hub unblock`.
import { CATALOG_STATES, type CatalogPage, type EntityRemoved } from '../../catalog/contract.ts';
import { ENTITY_TYPES } from '../../catalog/uid.ts';
import { command } from '../command.ts';
import { UsageError } from '../exit-codes.ts';
import { fullId } from '../names.ts';
import { flag, oneOf, paging, text } from '../options.ts';
import type { Output } from '../output/output.ts';
import { oneLine, plural } from '../output/text.ts';

const WHOLE_ID = { name: '<id>', description: '<type>:<slug>@<version>', names: 'ids' } as const;

export const entityCommands = [
  command({
    path: ['catalog'],
    isShort: true,
    summary: 'list the catalog, or only its missing, blocked or hidden entities',
    kind: 'hub',
    args: [{ name: '[words...]', description: 'words that must all occur in the name, title, summary or tags' }],
    options: {
      type: oneOf('-t, --type <type>', 'only this type', ENTITY_TYPES),
      missing: flag('--missing', 'only entities that no remote lists'),
      blocked: flag('--blocked', 'only blocked entities'),
      hidden: flag('--hidden', 'only entities that the policy hides'),
      ...paging('entities', { most: 500, fallback: 50 }),
    },
    examples: [
      ['hub catalog postgres --type mcp_server', 'servers whose text contains the word'],
      ['hub catalog --missing', 'entities that no remote lists'],
      ['hub catalog --blocked', ''],
      ['hub catalog --hidden', 'entities that the policy hides from search'],
    ],
    async run({ args, options: { type, missing, blocked, hidden, ...page }, output, access }) {
      const [state = 'any', other] = CATALOG_STATES.filter((each) => ({ missing, blocked, hidden, any: false })[each]);
      if (other) throw new UsageError('Use only one of --missing, --blocked and --hidden.');
      const hub = await access.open();
      const found = await hub.listCatalog({ ...page, text: args.join(' '), type, state, sort: 'name' });
      return output.answer(found, () => pageForPeople(found, { output, words: args }));
    },
  }),
  command({
    path: ['remove'],
    summary: 'remove an entity from the catalog and the gateway',
    details:
      "If a remote still lists the entity, the next sync restores it; use 'hub block' to keep it out. A blocked entity cannot be removed, because its block would be lost.",
    kind: 'hub',
    args: [WHOLE_ID],
    options: {},
    examples: [['hub remove mcp_server:io.github.modelcontextprotocol/time@2026.10.10', '']],
    async run({ args: [id = ''], output, access }) {
      const hub = await access.open();
      const removal = await hub.removeEntity(await fullId(id, hub));
      return output.answer(removal, () => removalForPeople(removal));
    },
  }),
  command({
    path: ['block'],
    summary: 'hide an entity and prevent its installation and registration',
    details: 'It is removed from the gateway and stays blocked in the catalog, whatever its remote publishes.',
    kind: 'hub',
    args: [WHOLE_ID],
    options: {
      reason: text('--reason <text>', 'reason, shown to everyone who views it or tries to install it'),
    },
    examples: [['hub block tool:dice-roller@1.0.0 --reason "Sends data to a host that we do not know."', '']],
    async run({ args: [id = ''], options: { reason }, output, access }) {
      const hub = await access.open();
      const entity = await hub.blockEntity(await fullId(id, hub), reason);
      return output.answer(
        entity,
        () => `Blocked: ${oneLine(entity.id)}\n${entity.note ? `${oneLine(entity.note)}\n` : ''}`,
      );
    },
  }),
  command({
    path: ['unblock'],
    summary: 'unblock an entity',
    kind: 'hub',
    args: [WHOLE_ID],
    options: {},
    examples: [['hub unblock tool:dice-roller@1.0.0', '']],
    async run({ args: [id = ''], output, access }) {
      const hub = await access.open();
      const entity = await hub.unblockEntity(await fullId(id, hub));
      return output.answer(entity, () => `Unblocked: ${oneLine(entity.id)}\n`);
    },
  }),
];

function pageForPeople(
  { items, total }: CatalogPage,
  { output, words }: { output: Output; words: readonly string[] },
): string {
  if (items.length === 0 && total > 0) return `End of the list; ${plural(total, 'entity', 'entities')} in total.\n`;
  if (items.length === 0) return words.length > 0 ? 'No entity matches these words.\n' : 'Nothing found.\n';
  const rows = output.table(items, [
    { title: 'Entity', text: ({ id }) => id },
    {
      title: 'State',
      text: ({ status, missing_since, blocked_at }) =>
        blocked_at ? 'blocked' : missing_since ? `missing since ${missing_since.slice(0, 10)}` : status,
    },
    { title: 'About', text: ({ summary, blocked_reason }) => blocked_reason ?? summary, isFlexible: true },
  ]);
  return `${rows}\n${output.style.faint(`${items.length} of ${plural(total, 'entity', 'entities')}`)}\n`;
}

function removalForPeople({ uid, listed_by: listedBy, note }: EntityRemoved): string {
  const back =
    listedBy.length > 0
      ? `${listedBy.map(oneLine).join(', ')} still lists it, so the next sync will restore it; use 'hub block' to keep it out.\n`
      : '';
  return `Removed: ${oneLine(uid)}\n${back}${note ? `${oneLine(note)}\n` : ''}`;
}
