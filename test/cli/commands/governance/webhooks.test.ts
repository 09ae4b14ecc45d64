import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DeliveryPage, WebhookAdded } from '../../../../src/events/contract.ts';
import { SECRET, startReceiver } from '../../../events/receiver.ts';
import { tempDir } from '../../../support/databases/databases.ts';
import { testBothWays } from '../../hubs.ts';

testBothWays('webhook: is added, listed, tested and removed', {}, async (t, { hub, json }) => {
  const receiver = await startReceiver(t);
  assert.equal((await hub('webhooks', 'list')).out, "No webhooks yet. 'hub webhooks add' adds one.\n");
  const file = join(await tempDir(t), 'secret');
  await writeFile(file, `${SECRET}\n`);
  const added = await hub('webhooks', 'add', 'chat', receiver.url, '--event', 'sync.finished', '--secret-file', file);
  assert.equal(added.out, `Added: chat → ${receiver.url}\n`);
  const shown = await hub('webhooks', 'add', 'shown', receiver.url);
  assert.match(shown.out, /^whsec_\S+\n$/, 'only the secret, for scripts');
  assert.match(shown.error, /^Added: shown → \S+\. Its secret will not be shown again/);
  const other = await json<WebhookAdded>('webhooks', 'add', 'other', 'http://127.0.0.1:9/');
  assert.match(String(other.answer.secret), /^whsec_/);
  assert.deepEqual((await hub('webhooks', 'add', 'bad', 'nowhere')).exitCode, 2);
  assert.deepEqual((await hub('webhooks', 'add', 'bad', receiver.url, '--event', 'x')).exitCode, 2);

  assert.equal((await hub('webhooks', 'test', 'chat')).out, 'Accepted with 200.\nResponse: thank you\n');
  const failed = await hub('webhooks', 'test', 'other');
  assert.deepEqual(
    [failed.exitCode, failed.out],
    [1, 'The receiver could not be reached: nothing listens there (ECONNREFUSED).\n'],
  );
  const { out } = await hub('webhooks', 'list');
  assert.match(out, /chat +http\S+ +sync\.finished +0 +delivered/);
  assert.match(out, /other +http\S+ +all +0 +given up: The receiver could not be reached.*\S\n(shown .*\n)?$/);
  const log = await json<DeliveryPage>('webhooks', 'deliveries', 'chat');
  assert.deepEqual(
    log.answer.items.map(({ id }) => id),
    receiver.received.map(({ id }) => id),
  );
  assert.match((await hub('webhooks', 'deliveries', 'chat')).out, /msg_\w+ +1: webhook\.test +1 +delivered\n$/);

  assert.equal((await hub('webhooks', 'remove', 'chat')).out, 'Removed: chat\n');
  assert.equal((await hub('webhooks', 'remove', 'chat')).exitCode, 3);
});
