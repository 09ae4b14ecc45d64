// `hub approvals`, `hub approve`, `hub reject` and `hub revoke`: entities that need approval.

import { transportName } from '../../../catalog/transport.ts';
import { signalLine } from '../../../catalog/trust-signals.ts';
import { harmless } from '../../../lib/harmless.ts';
import {
  APPROVAL_STATES,
  type ApprovalDecided,
  type ApprovalDecision,
  type ApprovalPage,
  type ApprovalReview,
} from '../../../policy/contract.ts';
import { type Call, command } from '../../command.ts';
import { type Ending, UsageError } from '../../exit-codes.ts';
import { catalogId, fullId } from '../../names.ts';
import { oneOf, paging, text } from '../../options.ts';
import type { Output } from '../../output/output.ts';
import { oneLine, plural, shownMoment } from '../../output/text.ts';

const IDS = { name: '<ids...>', description: '<type>:<slug>@<version>', names: 'ids' } as const;

export const approvalCommands = [
  command({
    path: ['approvals'],
    isShort: true,
    summary: 'list entities that need approval, or show one for review',
    kind: 'hub',
    args: [{ name: '[id]', description: 'name or id of an entity to review', names: 'entities' }],
    options: {
      state: oneOf('--state <state>', 'only entities in this state', APPROVAL_STATES, 'pending'),
      ...paging('entities', { most: 200, fallback: 50 }),
    },
    examples: [
      ['hub approvals', 'entities that wait for approval'],
      [
        'hub approvals mcp_server:io.github.modelcontextprotocol/time@2026.10.10',
        'its content, and what changed since the last approval',
      ],
      ['hub approvals --state rejected', ''],
    ],
    async run({ args: [name], options, output, access }) {
      const hub = await access.open();
      if (name !== undefined) {
        const review = await hub.getApproval(await catalogId(name, hub));
        return output.answer(review, () => reviewForPeople(review, output));
      }
      const page = await hub.listApprovals(options);
      return output.answer(page, () => pageForPeople(page, options.state, output));
    },
  }),
  command({
    path: ['approve'],
    summary: 'approve entities that the policy holds back',
    details:
      'An approval covers one version and its content. A new version needs approval again, unless the rule says `approval: name`. Without --digest, the command shows the content of each entity and asks for confirmation.',
    kind: 'hub',
    args: [IDS],
    options: {
      digest: text('--digest <digest>', "digest of the content that you reviewed, from 'hub approvals <id>'"),
      reason: text('--reason <text>', 'why'),
    },
    examples: [
      ['hub approve mcp_server:io.github.modelcontextprotocol/time@2026.10.10', 'shows the content and asks'],
      ['hub approve mcp_server:io.github.modelcontextprotocol/time@2026.10.10 --digest sha256:9f86d0…', 'for scripts'],
    ],
    run: ({ options, ...call }) => approveAll(call, options),
  }),
  command({
    path: ['reject'],
    summary: 'reject entities, with a reason',
    kind: 'hub',
    args: [IDS],
    options: { reason: text('--reason <text>', 'why; required, and shown to everyone who views the entity') },
    examples: [
      ['hub reject mcp_server:io.github.modelcontextprotocol/time@2026.10.10 --reason "Sends data abroad."', ''],
    ],
    run({ options: { reason }, ...call }) {
      if (!reason?.trim()) throw new UsageError('Say why it is rejected: --reason <text>.');
      return decideAll(call, { decision: 'reject', reason }, 'rejected');
    },
  }),
  command({
    path: ['revoke'],
    summary: 'revoke decisions, so that the entities wait for approval again',
    kind: 'hub',
    args: [IDS],
    options: { reason: text('--reason <text>', 'why') },
    examples: [
      ['hub revoke mcp_server:io.github.modelcontextprotocol/time@2026.10.10 --reason "Its vendor was sold."', ''],
    ],
    run: ({ options: { reason }, ...call }) => decideAll(call, { decision: 'revoke', reason }, 'revoked'),
  }),
];

type Surroundings = Omit<Call, 'options'>;

/** Approves only reviewed content: content shown now, or reviewed earlier under this digest. */
async function approveAll(call: Surroundings, given: { digest?: string; reason?: string }): Promise<Ending> {
  const { args, access, output, terminal } = call;
  const { digest, reason } = given;
  if (digest !== undefined && args.length > 1) throw new UsageError('--digest is for one entity at a time.');
  const { ask } = terminal;
  if (digest !== undefined) return decideAll(call, { decision: 'approve', digest, reason }, 'approved');
  if (!ask)
    throw new UsageError(
      "The approval cannot be confirmed without a terminal: pass the digest of the reviewed content with --digest; 'hub approvals <id>' shows it.",
    );
  const hub = await access.open();
  const decided: ApprovalDecided[] = [];
  for (const each of args) {
    const review = await hub.getApproval(await catalogId(each, hub));
    terminal.writeError(harmless(reviewForPeople(review, output)));
    const answer = await ask(`Approve ${oneLine(review.id)}? [y/N] `);
    if (!/^y(es)?$/i.test(answer?.trim() ?? '')) continue;
    decided.push(await hub.decideApproval(review.id, { decision: 'approve', digest: review.digest, reason }));
  }
  return answerDecided(decided, 'approved', output);
}

async function decideAll(
  { args, access, output }: Pick<Call, 'args' | 'access' | 'output'>,
  decision: ApprovalDecision,
  done: string,
): Promise<Ending> {
  const hub = await access.open();
  const decided: ApprovalDecided[] = [];
  for (const id of args) decided.push(await hub.decideApproval(await fullId(id, hub), decision));
  return answerDecided(decided, done, output);
}

function answerDecided(decided: readonly ApprovalDecided[], done: string, output: Output): Ending {
  const lines = () =>
    decided.map(({ id, note }) => `${done}  ${oneLine(id)}\n${note ? `${oneLine(note)}\n` : ''}`).join('') ||
    'Nothing was decided.\n';
  return output.answer({ items: decided }, lines);
}

function pageForPeople({ items, total, offset }: ApprovalPage, state: string, output: Output): string {
  if (items.length === 0) return total > 0 ? `End of the list; ${total} in total.\n` : `No entity is ${state}.\n`;
  const rows = output.table(items, [
    { title: 'Entity', text: ({ id }) => id },
    { title: 'Publisher', text: ({ publisher }) => publisher ?? '' },
    { title: 'License', text: ({ license }) => license ?? '' },
    {
      title: state === 'pending' ? 'Required by' : 'Decided by',
      text: ({ asked_by, decision }) =>
        state === 'pending'
          ? [...new Set(asked_by.map(({ decided_by }) => decided_by))].join(', ')
          : [decision?.decided_by, decision?.reason].filter(Boolean).join(': '),
      isFlexible: true,
    },
  ]);
  const next = offset + items.length;
  const more = next < total ? `; next page: --offset ${next}` : '';
  return `${rows}\n${output.style.faint(`${items.length} of ${plural(total, 'entity', 'entities')}${more}`)}\n`;
}

function reviewForPeople(review: ApprovalReview, { style }: Output): string {
  const { decision, since } = review;
  const fact = (name: string, value: string): [string, string] => [name, value];
  const facts: [string, string | null][] = [
    ['Publisher', review.publisher],
    ['Remote', review.remote],
    ['Source', review.repository ?? review.source_url],
    ['License', review.license],
    ['Transport', review.transports.map(transportName).join(', ')],
    ['Runs', review.launch],
    ['Updated', review.published_at && shownMoment(review.published_at)],
    ['Required by', review.asked_by.map(({ action, decided_by }) => `${action}: ${decided_by}`).join('; ')],
    ['Digest', review.digest],
    ['Decision', decision && [decision.decision, decision.decided_by, decision.reason].filter(Boolean).join(', ')],
    ...review.artifacts.map(({ kind, what, digest }) => fact('Artifact', `${kind} ${what}, ${digest ?? 'no digest'}`)),
    ...(review.trust?.signals ?? []).map((signal) => fact('Trust', signalLine(signal))),
    ...review.variables.map(({ name, required, description }) =>
      fact('Variable', `${name}${required ? ' (required)' : ''}${description ? `: ${description}` : ''}`),
    ),
    ...(review.content ?? []).map(({ path, value }) => fact('Includes', `${path}: ${value}`)),
  ];
  const lines = facts.flatMap(([name, value]) => (value ? [`${name.padEnd(13)}${oneLine(value)}`] : []));
  const changes = since
    ? [
        `Since ${oneLine(since.id)}, approved by ${oneLine(since.decided_by)}:`,
        ...(since.changes.length === 0 ? ['  its content has not changed'] : []),
        ...since.changes.map(({ what, before, after }) => `  ${oneLine(`${what}: ${before} → ${after}`)}`),
      ]
    : ['No version has been approved before.'];
  const all = [...lines, '', ...changes].map((line) => `${line}\n`).join('');
  return `${style.strong(oneLine(review.id))}  ${oneLine(review.summary)}\n${all}`;
}
