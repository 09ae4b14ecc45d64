import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepToken, token } from '../../web/src/api/token.ts';

/** A name that the compiler does not follow: what it leads to is typed for browsers. */
const HTTP: string = '../../web/src/api/http.ts';
const { send }: { send: (path: string, options: object) => Promise<unknown> } = await import(HTTP);

test('token: one that the hub refuses is forgotten, but not a newer one that was given meanwhile', async (t) => {
  let refuse = () => {};
  t.mock.method(globalThis, 'fetch', () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    refuse = () => resolve(new Response('{}', { status: 401 }));
    return promise;
  });
  keepToken('old', 'admin');
  const late = send('/diagnostics', {});
  keepToken('new', 'admin');
  refuse();
  await assert.rejects(late);
  assert.equal(token.value, 'new');

  const refused = send('/diagnostics', {});
  refuse();
  await assert.rejects(refused);
  assert.equal(token.value, '');
});
