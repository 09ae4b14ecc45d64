// `hub trust`.
import { signalLine } from '../../../catalog/trust-signals.ts';
import type { TrustChecked } from '../../../trust/contract.ts';
import { command } from '../../command.ts';
import { catalogId } from '../../names.ts';
import { oneLine } from '../../output/text.ts';

export const trustCommands = [
  command({
    path: ['trust'],
    summary: 'check the signatures of what an entity installs',
    details:
      'The hub gets npm provenance, PyPI attestations and image signatures from the registries, verifies them, and stores the result for searches and policies.',
    kind: 'hub',
    args: [{ name: '<id>', description: 'a name or id; without a version, the newest stable one', names: 'entities' }],
    options: {},
    examples: [['hub trust mcp_server:io.github.modelcontextprotocol/time@2026.10.10', '']],
    async run({ args: [name = ''], output, access }) {
      const hub = await access.open();
      const checked = await hub.checkTrust(await catalogId(name, hub));
      return output.answer(checked, () => checkedForPeople(checked));
    },
  }),
];

function checkedForPeople({ id, state, signals, note }: TrustChecked): string {
  const found = signals.length === 0 ? ['It installs nothing that could be signed.'] : signals.map(signalLine);
  const lines = [
    oneLine(`${id}: ${state.replace('_', ' ')}`),
    ...found.map((line) => `  ${oneLine(line)}`),
    ...(note ? [oneLine(note)] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
