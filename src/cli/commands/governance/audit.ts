// `hub audit`: who changed what.
import { howItEnded, operationOf, whatWasDone, whoDidIt } from '../../../access/audit-for-people.ts';
import { AUDIT_OUTCOMES, type AuditPage } from '../../../access/contract.ts';
import { command } from '../../command.ts';
import { flag, oneOf, text, time, wholeNumber } from '../../options.ts';
import type { Output } from '../../output/output.ts';

const LARGEST_PAGE = 1000;

export const auditCommands = [
  command({
    path: ['audit'],
    isShort: true,
    summary: 'show who changed what in the hub, newest first',
    kind: 'hub',
    options: {
      caller: text('--caller <name>', 'only changes by this token, person or user'),
      operation: text(
        '--operation <name>',
        "only this operation, as the table or the JSON output names it: 'Add token'",
      ),
      subject: text('--subject <text>', 'only entries with this text in the subject, such as an entity id'),
      outcome: oneOf('--outcome <outcome>', 'only changes with this outcome', AUDIT_OUTCOMES),
      since: time('--since <date>', 'only changes since this date or time, such as 2026-11-01'),
      until: time('--until <date>', 'only changes before this date or time'),
      before: text('--before <id>', 'only entries before this one, for the next page'),
      limit: wholeNumber('-n, --limit <number>', 'maximum number of entries', {
        min: 1,
        max: LARGEST_PAGE,
        fallback: 50,
      }),
      lines: flag('--lines', 'all entries, one JSON object per line'),
    },
    examples: [
      ['hub audit --operation install --since 2026-11-01', 'installs since the first of November'],
      ['hub audit --lines > audit.jsonl', 'all of it, for another program'],
    ],
    async run({ options: { lines, ...options }, output, access, terminal }) {
      const query = { ...options, operation: options.operation && operationOf(options.operation) };
      const hub = await access.open();
      if (!lines) {
        const page = await hub.listAudit(query);
        return output.answer(page, () => auditForPeople(page, output));
      }
      for (let before: string | null | undefined = query.before; before !== null; ) {
        const page: AuditPage = await hub.listAudit({ ...query, before, limit: LARGEST_PAGE });
        terminal.write(page.items.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
        before = page.next;
      }
      return 'ok';
    },
  }),
];

function auditForPeople({ items, next }: AuditPage, output: Output): string {
  if (items.length === 0) return 'The audit log has no such entries.\n';
  const rows = output.table(items, [
    { title: 'When', text: ({ at }) => `${at.slice(0, 10)} ${at.slice(11, 19)}` },
    { title: 'Who', text: whoDidIt },
    { title: 'What', text: whatWasDone },
    { title: 'Subject', text: ({ subject, detail }) => [subject, detail].filter(Boolean).join('; '), isFlexible: true },
    { title: 'Outcome', text: howItEnded, isFlexible: true },
  ]);
  return `${rows}\n${next ? output.style.faint(`Next page: --before ${next}\n`) : ''}`;
}
