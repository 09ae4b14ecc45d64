import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepToken, token } from '../../web/src/api/token.ts';

/** Not a literal, so the compiler does not follow the import into code typed for browsers. */
const HTTP: string = '../../web/src/api/http.ts';
const { send }: { send: (path: string, options: object) => Promise<unknown> } = await import(HTTP);

test('token: a refused token is forgotten, but not a newer one stored meanwhile', async (t) => {
  let refuse = () => {};
  t.mock.method(globalThis, 'fetch', () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    refuse = () => resolve(new Response('{}', { status: 401 }));
    return promise;
  });
  keepToken('old', { name: 'ada', role: 'admin' });
  const late = send('/diagnostics', {});
  keepToken('new', { name: 'ada', role: 'admin' });
  refuse();
  await assert.rejects(late);
  assert.equal(token.value, 'new');

  const refused = send('/diagnostics', {});
  refuse();
  await assert.rejects(refused);
  assert.equal(token.value, '');
});
