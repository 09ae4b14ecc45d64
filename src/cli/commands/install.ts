// `hub install` and `hub lock verify`.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { HubError } from '../../errors.ts';
import { isNotForGateway, reasonNotForGateway } from '../../gateway/state-words.ts';
import {
  type InstallEvent,
  type InstallPlan,
  type InstallReport,
  LOCKFILE_NAME,
  type LockCheck,
  type LockReport,
} from '../../install/contract.ts';
import { type Call, command } from '../command.ts';
import { type Ending, NotFoundError, UsageError } from '../exit-codes.ts';
import { explainedNotFound, LONGEST_ID_SHOWN, SEARCH_ADVICE } from '../not-found.ts';
import { flag, text, textOr } from '../options.ts';
import type { Output } from '../output/output.ts';
import { forgiving, type Progress } from '../output/progress.ts';
import { oneLine, plural } from '../output/text.ts';
import type { Terminal } from '../terminal.ts';

export const installCommands = [
  command({
    path: ['install'],
    summary: 'install an entity into a folder, and write its lockfile',
    details:
      'Artifacts first, then adapters, the registration into the gateway, and hub.lock.json at the end. With --hub, the folder is one of the machine that the hub runs on, and must be named. --json answers the report of the API; without --hub, target_path in it is the whole path of the folder.',
    kind: 'hub',
    args: [{ name: '[id]', description: '<type>:<slug>@<version>; may be left out with --manifest' }],
    options: {
      target: text('--target <folder>', 'folder that everything is written into; this one, unless with --hub'),
      manifest: text(
        '--manifest <file>',
        'install this manifest, or the server.json of an MCP registry (JSON or YAML; - reads it from another program), and put it into the catalog, if there is one',
      ),
      prerelease: flag('--prerelease', 'without a version: the newest one, even if it is a pre-release'),
      frozen: flag(
        '--frozen',
        'exactly what the lockfile in the folder says, or an error; what was changed there is put back',
      ),
      dryRun: flag('--dry-run', 'show what would be done, and touch nothing'),
    },
    examples: [
      ['hub install mcp_server:pdf-tables@1.0.0 --dry-run', 'what would happen'],
      ['hub install mcp_server:pdf-tables@1.0.0 --target ./project', ''],
      ['hub install --manifest ./manifest.yaml --target ./project', 'something of your own'],
      ['curl -sSf https://example.org/manifest.json | hub install --manifest - --target .', ''],
      [
        'hub show tool:invoice-fields --manifest --hub https://hub.example.org | hub install --manifest - --target .',
        'out of the catalog of a hub elsewhere, on this machine',
      ],
      ['hub install mcp_server:pdf-tables@1.0.0 --target ./project --frozen', 'the very same again, in CI'],
    ],
    async run({ args: [givenId], options, output, access, terminal }) {
      const { target, dryRun, frozen, prerelease } = options;
      if (access.serverUrl !== undefined && target === undefined)
        throw new UsageError('Name the folder on the machine of the hub with --target.');
      const source = options.manifest === undefined ? undefined : await readManifest(options.manifest, terminal);
      const id = givenId ?? source?.id;
      if (id === undefined) throw new UsageError('Say what to install: an id, or a file with --manifest.');
      const hub = await access.open({
        leavesNothing: dryRun,
        // A lockfile says where the manifest of what it locks is.
        ...(source || frozen ? { mayPass: true } : { mustExist: true }),
      });
      const request = {
        id,
        target: target ?? '.',
        ...(source ? { manifest: source.manifest } : {}),
        dry_run: dryRun,
        frozen,
        prerelease,
      };
      const report = await output.working((progress) =>
        explainedNotFound(hub.install(request, installListener(progress)), (message) =>
          message.includes(LOCKFILE_NAME)
            ? message.replace(/Send (the manifest that was locked)/, 'Name $1 with --manifest')
            : `No entity '${id.slice(0, LONGEST_ID_SHOWN)}' is in the catalog. ${SEARCH_ADVICE} --manifest <file> installs what is not in it.`,
        ),
      );
      const folder =
        access.serverUrl === undefined ? await (await access.openLocal()).targetFolder(report.target) : undefined;
      const place = folder === undefined ? `'${oneLine(report.target)}' on the machine of the hub` : oneLine(folder);
      const answer = folder === undefined ? report : { ...report, target_path: folder };
      output.answer(answer, () => reportForPeople(report, { output, place }));
      return report.ok ? 'ok' : 'failed';
    },
  }),
  command({
    path: ['lock', 'verify'],
    summary: 'check whether what is on disk still is what the lockfile says',
    details: 'Looks at this machine only; nothing is fetched and nothing is changed.',
    kind: 'local',
    options: { target: textOr('--target <folder>', 'folder that was installed into', '.') },
    examples: [
      ['hub lock verify', 'this folder'],
      ['hub lock verify --target ./project --json', ''],
    ],
    run: ({ options, ...call }) => verifyLock(options.target, call),
  }),
];

async function readManifest(
  file: string,
  { readInput }: Pick<Terminal, 'readInput'>,
): Promise<{ id: string; manifest: Record<string, unknown> }> {
  const { entityFromText } = await import('../../remotes/entity-from-text.ts');
  const content = await (file === '-' ? readInput() : readFile(file, 'utf8')).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--manifest is '${file}', but must be a readable file (${error.code}).`);
  });
  if (content.trim() === '') {
    const empty = file === '-' ? 'Nothing came in on standard input' : `The file ${file} is empty`;
    throw new HubError('invalid_manifest', `${empty}: there is no manifest to install.`);
  }
  const { uid, manifestText } = entityFromText({ url: file, text: content });
  return { id: uid, manifest: JSON.parse(manifestText) };
}

function installListener(progress: Progress): (event: InstallEvent) => void {
  return forgiving((event) => {
    if (event.kind === 'started') progress.show(`${event.step} …`);
    if (event.kind !== 'finished') return;
    const { step, ok, elapsed_secs: seconds, extra } = event.result;
    const took = seconds === undefined ? '' : ` (${seconds.toFixed(1)} s)`;
    if (isNotForGateway(event.result))
      return progress.tell(`ok      ${step}${took}: not for the gateway: ${oneLine(String(extra?.error))}`);
    progress.tell(`${ok ? 'ok    ' : 'failed'}  ${step}${took}${remark(extra)}`);
  });
}

function remark(extra: Record<string, unknown> = {}): string {
  const { error, skipped, reason, frozen, warning } = extra;
  // What a program said may end its own sentence already.
  if (typeof error === 'string') return `: ${oneLine(error).replace(/(?<!\.)([.?!])\.$/, '$1')}`;
  if (typeof warning === 'string') return `: ${oneLine(warning)}`;
  if (!skipped) return '';
  if (frozen) return ': as the lockfile says';
  return typeof reason === 'string' ? `: nothing to do (${oneLine(reason).replace(/\.$/, '')})` : ': nothing to do';
}

function reportForPeople(report: InstallReport, { output, place }: { output: Output; place: string }): string {
  const { style } = output;
  const warnings = (report.warnings ?? []).map((each) => `${style.warning('warning')}  ${oneLine(each)}\n`).join('');
  if (report.dry_run) {
    const fault = report.target_fault ? `${style.bad(oneLine(report.target_fault))}\n` : '';
    return `${planForPeople(report.plan)}${warnings}${fault}Nothing was touched (--dry-run).\n`;
  }
  const failed = report.results.filter((result) => !result.ok && !isNotForGateway(result)).map(({ step }) => step);
  const files = [
    ...report.files_written.map((file) => `wrote  ${oneLine(file)}\n`),
    ...report.results.flatMap(({ extra }) => removedIn(extra)).map((file) => `removed  ${oneLine(file)}\n`),
  ].join('');
  const where = `${oneLine(report.plan.id)} in ${place}`;
  const end = report.ok ? style.good(`Installed ${where}`) : style.bad(`Not everything is installed of ${where}`);
  const lacking = failed.length > 0 ? ` (failed: ${failed.join(', ')})` : '';
  return `${files}${warnings}${end}${lacking}.\n`;
}

/** What the version before had, and this one has not. */
function removedIn(extra: Record<string, unknown> = {}): string[] {
  return Array.isArray(extra.removed) ? extra.removed.map(String) : [];
}

function planForPeople({ id, artifacts, adapters, mcp_registration }: InstallPlan): string {
  const steps = [
    ...artifacts.map(({ step, command: what, reason }) => `${step}: ${what}${reason ? ` (${reason})` : ''}`),
    ...adapters.map(
      ({ framework, path, generic }) => `adapters.write: ${path} for ${framework}${generic ? ', generic' : ''}`,
    ),
    ...(Object.keys(mcp_registration).length > 0 ? [registering(mcp_registration)] : []),
    'lockfile.write: hub.lock.json',
  ];
  return `${oneLine(id)}\n${steps.map((step, index) => `${String(index + 1).padStart(3)}  ${oneLine(step)}\n`).join('')}`;
}

function registering(registration: InstallPlan['mcp_registration']): string {
  const reason = reasonNotForGateway(registration);
  return `gateway.register: ${reason ? `not for the gateway: ${reason}` : 'into the gateway, if there is one'}`;
}

async function verifyLock(target: string, { terminal, output }: Pick<Call, 'terminal' | 'output'>): Promise<Ending> {
  const [{ verifyLockfile }, { createRun }] = await Promise.all([
    import('../../install/verify/verify.ts'),
    import('../../lib/run.ts'),
  ]);
  const run = createRun(terminal.environment);
  const report = await verifyLockfile({ target: resolve(target), run, signal: terminal.shutdown });
  if (!report) throw new NotFoundError(`There is no ${LOCKFILE_NAME} in ${resolve(target)}; 'hub install' writes one.`);
  output.answer(report, () => lockForPeople(report, output));
  return report.ok ? 'ok' : 'failed';
}

function lockForPeople({ ok, target, lockfile, checks }: LockReport, output: Output): string {
  if (checks.length === 0) return `${lockfile} in ${oneLine(target)} lists nothing that would be on disk.\n`;
  const { style } = output;
  const styles: Record<LockCheck['outcome'], (text: string) => string> = {
    same: style.good,
    different: style.bad,
    missing: style.bad,
    unchecked: style.warning,
  };
  const rows = output.table(checks, [
    { title: 'Outcome', text: ({ outcome }) => outcome, style: (shown, { outcome }) => styles[outcome](shown) },
    { title: 'Entity', text: ({ entity }) => entity, isKey: true },
    { title: 'What', text: ({ what }) => what },
    { title: 'Where', text: ({ path }) => path ?? '' },
    { title: 'Why', text: ({ reason }) => reason ?? '', isFlexible: true },
  ]);
  const unchecked = checks.filter(({ outcome }) => outcome === 'unchecked').length;
  const end = ok
    ? style.good(`What is in ${target} is what its lockfile says`)
    : style.bad(`What is in ${target} is not what its lockfile says`);
  return `${rows}\n${end}${unchecked > 0 ? `; ${plural(unchecked, 'thing')} could not be checked` : ''}.\n`;
}
