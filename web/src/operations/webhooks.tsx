// Webhooks with their last delivery, and the delivery log of one of them, for administrators.
import { type Signal, useSignal } from '@preact/signals';
import type { Delivery, DeliveryPage, Webhook } from '../../../src/events/contract.ts';
import type { HubFailure } from '../api/failure.ts';
import { hub } from '../api/hub.ts';
import { asFailure } from '../api/problem.ts';
import { FailureNotice } from '../parts/notice.tsx';
import { ScrollTable } from '../parts/scroll-table.tsx';
import { atMoment, count } from '../parts/words.ts';

const PAGE_SIZE = 20;
const COLUMNS = ['Webhook', 'Events', 'Waiting', 'Last delivery', 'Log'];
const LOG_COLUMNS = ['When', 'Events', 'Tries', 'Response', 'Outcome'];

interface Log extends DeliveryPage {
  name: string;
}

export function Webhooks() {
  const webhooks = useSignal<readonly Webhook[] | undefined>(undefined);
  const log = useSignal<Log | undefined>(undefined);
  const failure = useSignal<HubFailure | undefined>(undefined);

  async function ask(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      failure.value = undefined;
    } catch (error) {
      failure.value = asFailure(error);
    }
  }
  const open = () =>
    ask(async () => {
      webhooks.value = (await hub.webhooks()).items;
    });
  const show = (name: string, before: string | null) =>
    ask(async () => {
      const page = await hub.deliveries(name, PAGE_SIZE, before);
      const earlier = before === null ? [] : (log.value?.items ?? []);
      log.value = { name, next: page.next, items: [...earlier, ...page.items] };
      webhooks.value = (await hub.webhooks()).items;
    });

  return (
    <section class="panel" aria-labelledby="webhooks">
      <h2 id="webhooks">Webhooks</h2>
      <details onToggle={(event) => event.currentTarget.open && open()}>
        <summary>Receivers of events from this hub</summary>
        {failure.value && <FailureNotice failure={failure.value} onRetry={open} />}
        {webhooks.value?.length === 0 && (
          <p class="quiet">
            No webhooks yet. <code>hub webhooks add</code> adds one.
          </p>
        )}
        {webhooks.value && webhooks.value.length > 0 && (
          <WebhookTable webhooks={webhooks.value} onShow={(name) => show(name, null)} />
        )}
        <DeliveryLog log={log} onMore={({ name, next }) => show(name, next)} />
      </details>
    </section>
  );
}

function WebhookTable({ webhooks, onShow }: { webhooks: readonly Webhook[]; onShow: (name: string) => void }) {
  return (
    <ScrollTable columns={COLUMNS}>
      {webhooks.map(({ name, url, events, waiting, disabled_reason, last_delivery }) => (
        <tr key={name}>
          <td class="run-remote">
            {name} <span class="address">{url}</span>
            {disabled_reason !== null && <span class="run-error">Disabled: {disabled_reason}</span>}
          </td>
          <td>{events.join(', ')}</td>
          <td>{waiting}</td>
          <td>{last_delivery ? `${outcomeOf(last_delivery)}, ${momentOf(last_delivery)}` : 'nothing sent yet'}</td>
          <td>
            <button type="button" class="button" aria-label={`Deliveries of ${name}`} onClick={() => onShow(name)}>
              Deliveries
            </button>
          </td>
        </tr>
      ))}
    </ScrollTable>
  );
}

function DeliveryLog({ log, onMore }: { log: Signal<Log | undefined>; onMore: (log: Log) => void }) {
  const shown = log.value;
  if (!shown) return null;
  return (
    <>
      <h3>Deliveries of {shown.name}</h3>
      {shown.items.length === 0 && <p class="quiet">Nothing has been sent yet.</p>}
      {shown.items.length > 0 && (
        <ScrollTable columns={LOG_COLUMNS}>
          {shown.items.map((delivery) => (
            <tr key={delivery.id}>
              <td>{momentOf(delivery)}</td>
              <td class="run-remote">
                {count(delivery.event_count, 'event')}: {delivery.event_types.join(', ')}
                {delivery.error && <span class="run-error">{delivery.error}</span>}
              </td>
              <td>{delivery.attempts}</td>
              <td>{delivery.status ?? 'none'}</td>
              <td>{outcomeOf(delivery)}</td>
            </tr>
          ))}
        </ScrollTable>
      )}
      {shown.next && (
        <button type="button" class="button" onClick={() => onMore(shown)}>
          Show older entries
        </button>
      )}
    </>
  );
}

function momentOf({ tried_at, created_at }: Delivery): string {
  return atMoment(tried_at ?? created_at);
}

function outcomeOf({ state, attempts, next_try_at: next }: Delivery): string {
  if (state === 'failed') return 'given up';
  if (state === 'delivered' || attempts === 0) return state;
  return `failed, next try ${next ? atMoment(next) : 'soon'}`;
}
