// `hub views`: subsets of the registry, each with its own address.
import type { ViewList } from '../../../registry/contract.ts';
import { command } from '../../command.ts';
import { flag, list, text } from '../../options.ts';
import type { Output } from '../../output/output.ts';
import { oneLine } from '../../output/text.ts';

const NAME = { name: '<name>', description: 'name of the view, used in its address', names: 'views' } as const;

export const viewCommands = [
  command({
    path: ['views', 'list'],
    isShort: true,
    summary: 'list the views of the registry',
    kind: 'hub',
    options: {},
    examples: [['hub views list', '']],
    async run({ output, access }) {
      const hub = await access.open();
      const views = await hub.listViews();
      return output.answer(views, () => viewsForPeople(views, output));
    },
  }),
  command({
    path: ['views', 'set'],
    summary: 'create or change a view',
    details:
      'Give VS Code, Copilot and ToolHive the address /registry/<name> of the hub, and other hubs /registry/<name>/v0.1/servers.',
    kind: 'hub',
    args: [NAME],
    options: {
      names: list('--names <names>', 'only servers with these names, such as com.acme/*; separated by commas'),
      approved: flag('--approved', 'only servers that the policy allows and that are not waiting for approval'),
      description: text('--description <text>', 'what it is for'),
    },
    examples: [
      ['hub views set team --names "com.acme/*,org.example/notes"', ''],
      ['hub views set safe --approved', ''],
    ],
    async run({ args: [name = ''], options: { names, approved, description }, output, access }) {
      const hub = await access.open();
      const view = await hub.saveView({ name, names: [...names], approved, description: description ?? '' });
      return output.answer(view, () => `Saved: ${oneLine(view.name)} at /registry/${oneLine(view.name)}\n`);
    },
  }),
  command({
    path: ['views', 'remove'],
    summary: 'remove a view',
    kind: 'hub',
    args: [NAME],
    options: {},
    examples: [['hub views remove team', '']],
    async run({ args: [name = ''], output, access }) {
      const hub = await access.open();
      const removed = await hub.removeView(name);
      return output.answer(removed, () => `Removed: ${oneLine(removed.name)}\n`);
    },
  }),
];

function viewsForPeople({ items }: ViewList, output: Output): string {
  return output.table(items, [
    { title: 'View', text: ({ name }) => name },
    { title: 'Servers', text: ({ names }) => names.join(', ') || 'all', isFlexible: true },
    { title: 'Policy', text: ({ approved }) => (approved ? 'only what it allows' : '') },
    { title: 'Description', text: ({ description }) => description, isFlexible: true },
  ]);
}
