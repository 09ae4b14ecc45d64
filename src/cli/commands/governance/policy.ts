// `hub policy`: the rules that decide which entities are found, installed and registered.
import { byWhom } from '../../../access/audit-for-people.ts';
import type { PolicyChange, PolicyState, PolicyTest } from '../../../policy/contract.ts';
import { command } from '../../command.ts';
import { catalogId } from '../../names.ts';
import { flag, text } from '../../options.ts';
import type { Output } from '../../output/output.ts';
import { oneLine, plural, shownMoment } from '../../output/text.ts';
import { readText } from '../../terminal/read-text.ts';

const FILE = { name: '<file>', description: 'a policy in YAML or JSON; - reads standard input' };

export const policyCommands = [
  command({
    path: ['policy', 'show'],
    isShort: true,
    summary: 'show the admission policy in force',
    kind: 'hub',
    options: {},
    examples: [['hub policy show', '']],
    async run({ output, access }) {
      const state = await (await access.open()).getPolicy();
      return output.answer(state, () => stateForPeople(state, output));
    },
  }),
  command({
    path: ['policy', 'test'],
    summary: 'show what the policy decides about an entity, and by which rule',
    kind: 'hub',
    args: [{ name: '<id>', description: 'a name or id; without a version, the newest stable one', names: 'entities' }],
    options: { file: text('--file <file>', 'test this policy instead of the one in force') },
    examples: [
      ['hub policy test mcp_server:io.github.modelcontextprotocol/time@2026.10.10', ''],
      [
        'hub policy test mcp_server:io.github.modelcontextprotocol/time --file policy.yaml',
        'with a policy that is not applied yet',
      ],
    ],
    async run({ args: [name = ''], options: { file }, output, access, terminal }) {
      const given = file === undefined ? {} : { text: await readText(file, terminal) };
      const hub = await access.open();
      const id = await catalogId(name, hub);
      const tested = await hub.testPolicy({ id, ...given });
      return output.answer(tested, () => testForPeople(tested, output));
    },
  }),
  command({
    path: ['policy', 'check'],
    summary: 'check a policy file without a hub',
    details: 'Reports errors with line and column, and warns about rules that match everything or can never decide.',
    kind: 'local',
    args: [FILE],
    options: {},
    examples: [['hub policy check policy.yaml', '']],
    async run({ args: [file = ''], output, terminal }) {
      const [{ readPolicy }, { policyWarnings }] = await Promise.all([
        import('../../../policy/read-policy.ts'),
        import('../../../policy/warnings.ts'),
      ]);
      const policy = readPolicy(await readText(file, terminal));
      const warnings = policyWarnings(policy);
      const counted = plural(policy.rules.length, 'rule');
      return output.answer(
        { rules: policy.rules.length, warnings },
        () => `The policy can be used: ${counted}.\n${warningLines(warnings, output)}`,
      );
    },
  }),
  command({
    path: ['policy', 'apply'],
    summary: 'apply a policy',
    details: 'Reports how many entities it affects. A hub with POLICY_FILE reads its policy only from that file.',
    kind: 'hub',
    args: [FILE],
    options: { dryRun: flag('--dry-run', 'only check it, and count what it would change') },
    examples: [
      ['hub policy apply policy.yaml --dry-run', 'how many entities it affects'],
      ['hub policy apply policy.yaml', ''],
    ],
    async run({ args: [file = ''], options: { dryRun }, output, access, terminal }) {
      const change = await (await access.open()).changePolicy(await readText(file, terminal), {
        dryRun,
      });
      return output.answer(change, () => changeForPeople(change, output));
    },
  }),
];

function stateForPeople(state: PolicyState, output: Output): string {
  if (state.text === null)
    return "This hub has no policy: everything is allowed. 'hub policy apply <file>' sets one.\n";
  const when = state.changed_at ? ` on ${shownMoment(state.changed_at)}` : '';
  const from = state.source === 'file' ? 'From POLICY_FILE' : `Set ${oneLine(byWhom(state.changed_by))}`;
  const error = state.file_error ? `${output.style.bad('POLICY_FILE')}  ${oneLine(state.file_error)}\n` : '';
  const applying = state.applied ? '' : 'It is still being applied.\n';
  const notes = `${error}${applying}${warningLines(state.warnings, output)}`;
  return `${state.text.trimEnd()}\n\n${output.style.faint(`${from}${when}.`)}\n${notes}`;
}

const APPROVAL_WORDS = { allowed: 'approved', refused: 'rejected', pending: 'not approved yet' };

function testForPeople({ id, decisions, blocked_at }: PolicyTest, output: Output): string {
  const { style } = output;
  const marks = { allowed: style.good, refused: style.bad, pending: style.warning };
  const lines = decisions.map(({ action, outcome, result, decided_by, why }) => {
    const approval = outcome === 'require_approval' ? ` (${APPROVAL_WORDS[result]})` : '';
    return `${action.padEnd(9)} ${marks[result](outcome)}${approval}  ${oneLine(decided_by)}\n${' '.repeat(10)}${style.faint(oneLine(why))}\n`;
  });
  const blocked = blocked_at
    ? `${style.bad('Blocked by an operator')}, whatever the policy says: 'hub unblock' lifts the block.\n`
    : '';
  return `${style.strong(oneLine(id))}\n${blocked}${lines.join('')}`;
}

function changeForPeople(change: PolicyChange, output: Output): string {
  const { dry_run, entities, affected, changes, warnings, note } = change;
  const rows = changes.map(({ action, from, to, count }) => `  ${action}: ${from} → ${to}  ${count}\n`).join('');
  const counted = `${affected} of ${plural(entities, 'entity', 'entities')} affected.\n${rows}`;
  const done = dry_run ? 'Nothing was changed (--dry-run).\n' : 'The policy is in force.\n';
  return `${counted}${warningLines(warnings, output)}${done}${note ? `${oneLine(note)}\n` : ''}`;
}

function warningLines(warnings: readonly string[], { style }: Output): string {
  return warnings.map((warning) => `${style.warning('warning')}  ${oneLine(warning)}\n`).join('');
}
