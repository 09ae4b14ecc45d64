// `hub webhooks`: sends events to other programs.
import { type Delivery, EVENT_TYPES, type Webhook } from '../../../events/contract.ts';
import { command } from '../../command.ts';
import { someOf, text, wholeNumber } from '../../options.ts';
import type { Output } from '../../output/output.ts';
import { oneLine, shownMoment } from '../../output/text.ts';
import { readText } from '../../terminal/read-text.ts';

const NEW_NAME = { name: '<name>', description: 'name of the webhook' };
const NAME = { ...NEW_NAME, names: 'webhooks' } as const;

export const webhookCommands = [
  command({
    path: ['webhooks', 'add'],
    summary: 'add a webhook: send events to an address from now on',
    details:
      'Deliveries are signed according to standardwebhooks.com. Without --secret-file, a secret is generated and shown once.',
    kind: 'hub',
    args: [NEW_NAME, { name: '<url>', description: 'address that receives the events by POST' }],
    options: {
      events: someOf('--event <type>', 'only events of this type, repeatable', EVENT_TYPES),
      secretFile: text('--secret-file <file>', 'file with the secret (whsec_…); - reads standard input'),
    },
    examples: [
      ['hub webhooks add chat https://receiver.example.org/hub', ''],
      [
        'hub webhooks add review https://receiver.example.org/hub --event approval.needed',
        'only when an approval is needed',
      ],
    ],
    async run({ args: [name = '', url = ''], options, output, access, terminal }) {
      const secret = options.secretFile === undefined ? undefined : await readText(options.secretFile, terminal);
      const events = options.events.length > 0 ? [...options.events] : [...EVENT_TYPES];
      const added = await (await access.open()).addWebhook({ name, url, events, secret });
      const line = `Added: ${oneLine(added.name)} → ${oneLine(added.url)}`;
      if (added.secret === undefined) return output.answer(added, () => `${line}\n`);
      output.answer(added, () => `${added.secret}\n`);
      output.note(`${line}. Its secret will not be shown again, so store it safely.`);
      return 'ok';
    },
  }),
  command({
    path: ['webhooks', 'list'],
    summary: 'list the webhooks',
    kind: 'hub',
    options: {},
    examples: [['hub webhooks list', '']],
    async run({ output, access }) {
      const webhooks = await (await access.open()).listWebhooks();
      return output.answer(webhooks, () => webhooksForPeople(webhooks.items, output));
    },
  }),
  command({
    path: ['webhooks', 'remove'],
    summary: 'remove a webhook and its delivery log',
    kind: 'hub',
    args: [NAME],
    options: {},
    examples: [['hub webhooks remove chat', '']],
    async run({ args: [name = ''], output, access }) {
      const removed = await (await access.open()).removeWebhook(name);
      return output.answer(removed, () => `Removed: ${oneLine(removed.name)}\n`);
    },
  }),
  command({
    path: ['webhooks', 'test'],
    summary: 'send a test event at once',
    details: 'If the receiver accepts it, a disabled webhook is enabled again.',
    kind: 'hub',
    args: [NAME],
    options: {},
    examples: [['hub webhooks test chat', '']],
    async run({ args: [name = ''], output, access }) {
      const delivery = await (await access.open()).testWebhook(name);
      const isDelivered = delivery.state === 'delivered';
      const answer = delivery.answer ? `\n${output.style.faint(`Response: ${oneLine(delivery.answer)}`)}` : '';
      const outcome = isDelivered ? `Accepted with ${delivery.status}.` : oneLine(delivery.error ?? '');
      return output.answer(delivery, () => `${outcome}${answer}\n`, isDelivered ? 'ok' : 'failed');
    },
  }),
  command({
    path: ['webhooks', 'deliveries'],
    summary: 'show the deliveries of a webhook, newest first',
    kind: 'hub',
    args: [NAME],
    options: {
      before: text('--before <id>', 'only deliveries before this one, for the next page'),
      limit: wholeNumber('-n, --limit <number>', 'maximum number of deliveries', { min: 1, max: 1000, fallback: 20 }),
    },
    examples: [['hub webhooks deliveries chat', '']],
    async run({ args: [name = ''], options, output, access }) {
      const page = await (await access.open()).listDeliveries(name, options);
      const more = page.next ? `\n${output.style.faint(`Next page: --before ${page.next}`)}\n` : '';
      return output.answer(page, () => `${deliveriesForPeople(page.items, output)}${more}`);
    },
  }),
];

function webhooksForPeople(webhooks: readonly Webhook[], output: Output): string {
  if (webhooks.length === 0) return "No webhooks yet. 'hub webhooks add' adds one.\n";
  return output.table(webhooks, [
    { title: 'Webhook', text: ({ name }) => name },
    { title: 'Address', text: ({ url }) => url, isFlexible: true },
    { title: 'Events', text: ({ events }) => (events.length === EVENT_TYPES.length ? 'all' : events.join(', ')) },
    { title: 'Waiting', text: ({ waiting }) => String(waiting) },
    { title: 'State', text: (webhook) => stateOf(webhook) },
  ]);
}

function stateOf({ disabled_reason: disabled, last_delivery: last }: Webhook): string {
  if (disabled !== null) return `disabled: ${disabled}`;
  return last ? outcomeOf(last) : 'nothing sent yet';
}

function deliveriesForPeople(deliveries: readonly Delivery[], output: Output): string {
  if (deliveries.length === 0) return 'Nothing has been sent yet.\n';
  return output.table(deliveries, [
    { title: 'When', text: ({ tried_at, created_at }) => shownMoment(tried_at ?? created_at) },
    { title: 'Delivery', text: ({ id }) => id },
    { title: 'Events', text: ({ event_count, event_types }) => `${event_count}: ${event_types.join(', ')}` },
    { title: 'Tries', text: ({ attempts }) => String(attempts) },
    { title: 'Outcome', text: outcomeOf, isFlexible: true },
  ]);
}

function outcomeOf({ state, error, next_try_at: next }: Delivery): string {
  if (state === 'delivered') return 'delivered';
  if (state === 'failed') return `given up: ${error}`;
  return error === null ? 'being sent' : `${error} Next try ${next ? shownMoment(next) : 'soon'}`;
}
