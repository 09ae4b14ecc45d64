import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseServer, type ServerChoice, type ServerSettings } from '../../src/cli/server-choice.ts';

const chosen = (url: string, token?: string, isTokenWithheld = false): ServerChoice => ({
  url,
  token,
  isTokenWithheld,
});
const cases: { name: string; settings: Partial<ServerSettings>; server: ServerChoice | undefined }[] = [
  { name: 'nothing', settings: {}, server: undefined },
  {
    name: 'an argument before everything',
    settings: { named: 'a', environment: { HUB_URL: 'b', HUB_TOKEN: 't' }, envFile: { HUB_URL: 'c', HUB_TOKEN: 'u' } },
    server: chosen('a', 't'),
  },
  {
    name: 'a token of the file for an address that is trusted more',
    settings: { named: 'a', envFile: { HUB_TOKEN: 'u' } },
    server: chosen('a', 'u'),
  },
  {
    name: 'a token of the environment never for an address of the file',
    settings: { environment: { HUB_TOKEN: 't' }, envFile: { HUB_URL: 'c' } },
    server: chosen('c', undefined, true),
  },
  {
    name: 'address and token of the file, together',
    settings: { environment: { HUB_TOKEN: 't' }, envFile: { HUB_URL: 'c', HUB_TOKEN: 'u' } },
    server: chosen('c', 'u'),
  },
  {
    name: 'an empty HUB_URL of the environment instead of that of the file',
    settings: { environment: { HUB_URL: ' ' }, envFile: { HUB_URL: 'c' } },
    server: undefined,
  },
  {
    name: 'an empty HUB_TOKEN of the environment instead of that of the file',
    settings: { environment: { HUB_URL: 'b', HUB_TOKEN: '' }, envFile: { HUB_TOKEN: 'u' } },
    server: chosen('b'),
  },
];
for (const { name, settings, server } of cases) {
  test(`server: ${name}`, () => {
    assert.deepEqual(chooseServer({ named: undefined, environment: {}, envFile: {}, ...settings }), server);
  });
}
