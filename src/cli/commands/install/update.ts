// `hub update`.
import { kindNameOf } from '../../../catalog/artifact-kind.ts';
import { CLIENTS, type ClientName } from '../../../catalog/client-config.ts';
import { withoutVersion } from '../../../catalog/uid.ts';
import { type InstallReport, type InstallRequest, type LockedEntity, PREFERENCES } from '../../../install/contract.ts';
import { type Call, command } from '../../command.ts';
import type { Ending } from '../../exit-codes.ts';
import { type InstallRights, openOwnInstall } from '../../hub/own-install.ts';
import { newestOf } from '../../newest.ts';
import { text } from '../../options.ts';
import { removals, reportForPeople } from '../../output/install-report.ts';
import { oneLine } from '../../output/text.ts';
import { entitiesFor, installAll, lockfileIn, RIGHTS, requestOf, type Surroundings } from './install.ts';

export const updateCommand = command({
  path: ['update'],
  summary: 'install the newest stable version of installed entities, and lock it',
  details:
    'Without a name, updates everything in hub.lock.json. Dependencies are resolved again, even if the entity itself is already the newest version.',
  kind: 'hub',
  args: [{ name: '[name...]', description: 'names of installed entities', names: 'installed' }],
  options: { target: text('--target <folder>', 'folder of the installation', '.'), ...RIGHTS },
  examples: [
    ['hub update', 'everything in hub.lock.json'],
    ['hub update time --dry-run', 'what would happen'],
  ],
  run: ({ args, options, ...call }) => update(args, options, call),
});

interface UpdateOptions extends Required<InstallRights> {
  target: string;
  force: boolean;
  dryRun: boolean;
}

interface Updated {
  id: string;
  from: string;
  to: string;
  outcome: 'updated' | 'unchanged' | 'failed' | 'planned' | 'not in the catalog';
  report?: InstallReport;
}

async function update(names: readonly string[], options: UpdateOptions, call: Surroundings): Promise<Ending> {
  const { output, access } = call;
  await using own = await openOwnInstall(call, options);
  const lockfile = await lockfileIn(options.target, own);
  const place = await own.folderOf(options.target);
  const entities = entitiesFor(names, lockfile, place);
  const hub = await access.open();
  const updates: Updated[] = [];
  for (const entity of entities) {
    const newest = await newestOf(hub, entity);
    const { id, version: from } = entity;
    if (!newest) {
      updates.push({ id, from, to: from, outcome: 'not in the catalog' });
      continue;
    }
    const request = {
      ...requestOf(options),
      ...keptChoices(entity),
      target: options.target,
      id: newest.id,
      update: true,
    };
    const [report] = await installAll([request], own, call, entities.length > 1);
    if (!report) continue;
    updates.push({ id: newest.id, from, to: newest.version, outcome: outcomeOf(report, entity), report });
    // Last, so that an entity with another slug replaces this one only after it is installed.
    const isReplaced = report.ok && !report.dry_run && withoutVersion(newest.id) !== withoutVersion(id);
    if (isReplaced) await own.uninstall({ id, target: options.target, force: false });
  }
  const ok = updates.every(({ outcome }) => outcome !== 'failed');
  const forPeople = () => updates.map((each) => updateForPeople(each, { output, place })).join('');
  return output.answer({ ok, target_path: place, entities: updates }, forPeople, ok ? 'ok' : 'failed');
}

/** The clients and the alternative that the original install chose. */
function keptChoices({ artifacts, adapters }: LockedEntity): Pick<InstallRequest, 'clients' | 'prefer'> {
  const isClient = (name: string): name is ClientName => CLIENTS.some((each) => each === name);
  const clients = [...new Set(adapters.map(({ framework }) => framework).filter(isClient))];
  const kinds = artifacts.map(({ kind, spec }) => kindNameOf(kind, spec));
  const prefer = PREFERENCES.find((each) => kinds.includes(each));
  return { ...(clients.length > 0 ? { clients } : {}), prefer };
}

function outcomeOf({ ok, dry_run, lockfile, plan }: InstallReport, before: LockedEntity): Updated['outcome'] {
  if (!ok) return 'failed';
  if (dry_run) return 'planned';
  const after = lockfile.entities.find(({ id }) => id === plan.id);
  return JSON.stringify(after) === JSON.stringify(before) ? 'unchanged' : 'updated';
}

function updateForPeople(
  { id, from, to, outcome, report }: Updated,
  { output, place }: { output: Call['output']; place: string },
): string {
  if (outcome === 'not in the catalog') return `Not in the catalog, and left as it is: ${oneLine(id)}\n`;
  if (outcome === 'unchanged') return `Up to date: ${oneLine(id)}\n`;
  if (outcome === 'planned')
    return from === to
      ? `Would resolve the packages of ${oneLine(id)} again.\n`
      : `Would update ${oneLine(id)} from ${oneLine(from)}.\n${removals(report?.plan.removes)}`;
  const head = outcome === 'updated' && from !== to ? `Updated from ${oneLine(from)} to ${oneLine(to)}:\n` : '';
  return `${head}${report ? reportForPeople(report, { output, place: oneLine(place) }) : ''}`;
}
