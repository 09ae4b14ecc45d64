// Publishing calls that are sent to the hub and to the official registry, with the expected statuses.
import type { JsonObject } from '../src/lib/json.ts';
import { SERVERS } from './servers.ts';

interface PublishingCall {
  what: string;
  /** POST by default. */
  method?: string;
  /** `/v0/publish` by default. */
  path?: string;
  body: JsonObject;
  /** The statuses of the hub and of the official registry. */
  answers: [hub: number, official: number];
  /** The difference: the first column of the second table in docs/registry.md. */
  here?: string;
}

const notes = SERVERS[0] ?? {};
const plain = { ...SERVERS.find(({ name }) => name === 'io.github.example/tool') };
const remote = (url: string) => ({ remotes: [{ type: 'streamable-http', url }], packages: undefined });
const NOTES = '/v0/servers/org.example.notes%2Fnotes';
const STATUS = `${NOTES}/versions/1.0.0/status`;

export const PUBLISHING: readonly PublishingCall[] = [
  { what: 'a server', body: notes, answers: [200, 200] },
  { what: 'the same again', body: notes, answers: [409, 400], here: 'the same version again: 409' },
  { what: 'another version', body: { ...notes, version: '1.0.1', remotes: undefined }, answers: [200, 200] },
  { what: 'the version latest', body: { ...plain, version: 'latest' }, answers: [422, 422] },
  { what: 'a range as a version', body: { ...plain, version: '^1.0.0' }, answers: [422, 422] },
  { what: 'a name without a namespace', body: { ...plain, name: 'tool' }, answers: [422, 422] },
  { what: 'no description', body: { ...plain, description: undefined }, answers: [422, 422] },
  { what: 'a long description', body: { ...plain, description: 'x'.repeat(101) }, answers: [422, 422] },
  { what: 'an unknown key of _meta', body: { ...plain, _meta: { 'org.example/x': {} } }, answers: [422, 422] },
  {
    what: 'a remote over http',
    body: { ...plain, name: 'com.acme/plain', ...remote('http://plain.acme.com/mcp') },
    answers: [200, 422],
    here: '`http:` addresses of remotes are accepted, with a warning',
  },
  {
    what: 'a repository of a company',
    body: { ...plain, name: 'com.acme/own', repository: { url: 'https://git.acme.com/own', source: 'git' } },
    answers: [200, 422],
    here: 'repositories outside GitHub and GitLab are accepted, with a warning',
  },
  { what: 'a name', body: plain, answers: [200, 200] },
  {
    what: 'the same name in capitals',
    body: { ...plain, name: 'io.github.example/TOOL' },
    answers: [409, 200],
    here: 'names that differ only in case are refused',
  },
  {
    what: 'a remote',
    body: { ...plain, name: 'com.acme/one', ...remote('https://acme.com/mcp') },
    answers: [200, 200],
  },
  {
    what: 'the same remote under another name',
    body: { ...plain, name: 'com.acme/two', ...remote('https://acme.com/mcp') },
    answers: [200, 400],
    here: 'the address of a remote may belong to several servers',
  },
  { what: 'deprecated', method: 'PATCH', path: STATUS, body: { status: 'deprecated' }, answers: [200, 200] },
  { what: 'deprecated again', method: 'PATCH', path: STATUS, body: { status: 'deprecated' }, answers: [400, 400] },
  {
    what: 'an unknown status',
    method: 'PATCH',
    path: STATUS,
    body: { status: 'lost' },
    answers: [400, 422],
    here: 'an unknown status: 400',
  },
  {
    what: 'a message of an active version',
    method: 'PATCH',
    path: STATUS,
    body: { status: 'active', statusMessage: 'x' },
    answers: [400, 400],
  },
  { what: 'all deleted', method: 'PATCH', path: `${NOTES}/status`, body: { status: 'deleted' }, answers: [200, 200] },
  {
    what: 'a change in place',
    method: 'PUT',
    path: '/v0/servers/com.acme%2Fone/versions/1.0.0',
    body: { ...plain, name: 'com.acme/one', ...remote('https://acme.com/mcp') },
    answers: [405, 200],
    here: '`PUT …/versions/{version}` does not exist',
  },
];
