// `hub doctor`.
import { type Call, command } from '../command.ts';
import type { Check, SubjectFinding } from '../doctor/finding.ts';
import type { Output } from '../output/output.ts';
import { oneLine, padded, wrapped } from '../output/text.ts';
import { lineLogger } from '../terminal/line-logger.ts';

export const doctorCommands = [
  command({
    path: ['doctor'],
    summary: 'check what works and what does not, and say what to do about it',
    details:
      'Checks the database, the programs that installs use and, if a catalog exists, the gateway, the remotes, the embedding model and the language model. With --hub, checks that hub from the outside. It does not create a database or change entities or remotes. Like every command that opens the local catalog, it upgrades an older database and computes missing embeddings.',
    kind: 'hub',
    options: {},
    examples: [
      ['hub doctor', 'with the settings of the environment'],
      ['hub doctor --hub https://hub.example.org', 'another hub'],
    ],
    async run(call) {
      const { output } = call;
      const { runChecks } = await import('../doctor/finding.ts');
      const { checks, close } = await checksFor(call);
      const findings = await output
        .working((progress) =>
          runChecks(checks, {
            onStart: (subject) => progress.show(`${subject}…`),
            signal: call.terminal.shutdown,
          }),
        )
        .finally(close);
      const isWell = findings.every(({ outcome }) => outcome !== 'failed');
      const ending = isWell ? 'ok' : 'failed';
      return output.answer({ ok: isWell, findings }, () => findingsForPeople(findings, output), ending);
    },
  }),
];

async function checksFor({ terminal, access }: Call): Promise<{ checks: Check[]; close?(): Promise<void> }> {
  if (access.serverUrl !== undefined) {
    const hub = await access.open();
    // An unreachable hub decides the exit code.
    await hub.health({ checkDb: false });
    const { serverChecks } = await import('../doctor/hub-checks.ts');
    return { checks: serverChecks(hub, access.serverUrl) };
  }
  const [{ localChecks }, { openWorld }] = await Promise.all([
    import('../doctor/local-checks.ts'),
    import('../hub/world.ts'),
  ]);
  const config = access.config();
  const catalog = await access.findLocal().catch((error: Error) => error);
  const { world, close } = openWorld(config, lineLogger(terminal), terminal.environment);
  return { checks: localChecks({ config, run: world.run, catalog }), close };
}

const MARKS = { ok: 'ok', warning: 'warning', failed: 'FAILED' } as const;

function findingsForPeople(findings: readonly SubjectFinding[], { style, columns }: Output): string {
  const styles = { ok: style.good, warning: style.warning, failed: style.bad };
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  const indent = ' '.repeat(width + 11);
  return findings
    .map(({ subject, outcome, found, advice }) => {
      const lines = wrapped(oneLine(found), columns - indent.length);
      const todo = advice ? wrapped(oneLine(advice), columns - indent.length).map(style.faint) : [];
      const text = [...lines, ...todo].join(`\n${indent}`);
      return `${styles[outcome](padded(MARKS[outcome], 7))}  ${padded(subject, width)}  ${text}\n`;
    })
    .join('');
}
