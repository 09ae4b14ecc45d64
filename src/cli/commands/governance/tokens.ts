// `hub tokens`: who may use a hub, and for which operations.
import { ROLES, type TokenList } from '../../../access/contract.ts';
import type { Config } from '../../../config.ts';
import { readValues } from '../../../lib/value-list.ts';
import { command } from '../../command.ts';
import { UsageError } from '../../exit-codes.ts';
import { list, oneOf, wholeNumber } from '../../options.ts';
import type { Output } from '../../output/output.ts';
import { oneLine } from '../../output/text.ts';

const NAME = { name: '<name>', description: 'what the token is for; the audit log shows it' };

export const tokenCommands = [
  command({
    path: ['tokens', 'add'],
    summary: 'add a token for a person or a program',
    details:
      'The token is shown once; the hub stores only its digest. A reader searches; an installer also installs; a publisher also publishes servers; an operator also changes remotes, entities, registrations and views, approves, and checks signatures; an admin also changes the policy, webhooks and tokens, and reads the audit log.',
    kind: 'hub',
    args: [NAME],
    options: {
      role: oneOf('--role <role>', 'what it may do; required', ROLES),
      scope: {
        ...list(
          '--scope <names>',
          'only entities with these slugs in their ids, such as com.acme/*; separated by commas',
        ),
        read: readScope,
      },
      days: wholeNumber('--days <number>', 'number of days until it expires; default: never', {
        min: 1,
        max: 3650,
        fallback: undefined,
      }),
    },
    examples: [
      ['hub tokens add build-server --role installer --days 90', ''],
      ['hub tokens add notes-ci --role publisher --scope "com.acme/*"', 'publishes servers with such names'],
      [
        'hub tokens add acme --role operator --scope "com.acme/*"',
        'only for ids such as mcp_server:com.acme/notes@1.0.0',
      ],
    ],
    async run({ args: [name = ''], options: { role, scope, days }, output, access }) {
      if (!role) throw new UsageError(`Say what the token may do: --role ${ROLES.join('|')}.`);
      const hub = await access.open();
      const created = await hub.createToken({ name, role, scope: [...scope], expires_in_days: days });
      const until = created.expires_at ? `, valid until ${created.expires_at.slice(0, 10)}` : '';
      output.answer(created, () => `${created.token}\n`);
      output.note(
        `Added: ${created.name} (${created.role}${until}). The token will not be shown again, so store it safely.`,
      );
      if (access.serverUrl === undefined && !isProtected(access.config())) output.note(WHERE_IT_COUNTS);
      return 'ok';
    },
  }),
  command({
    path: ['tokens', 'list'],
    isShort: true,
    summary: 'list the tokens',
    kind: 'hub',
    options: {},
    examples: [['hub tokens list', '']],
    async run({ output, access }) {
      const hub = await access.open();
      const tokens = await hub.listTokens();
      return output.answer(tokens, () => tokensForPeople(tokens, output));
    },
  }),
  command({
    path: ['tokens', 'remove'],
    summary: 'remove a token, so that it is refused from now on',
    kind: 'hub',
    args: [{ name: '<name>', description: 'name of the token', names: 'tokens' }],
    options: {},
    examples: [['hub tokens remove build-server', '']],
    async run({ args: [name = ''], output, access }) {
      const hub = await access.open();
      const revoked = await hub.revokeToken(name);
      return output.answer(revoked, () => `Removed: ${oneLine(revoked.name)}\n`);
    },
  }),
];

const WHERE_IT_COUNTS =
  'A hub checks tokens only if API_TOKEN or OIDC_ISSUER is set; otherwise everyone may do everything.';

/** Based on the settings of this process; the server may have others. */
function isProtected({ adminToken, oidc }: Config): boolean {
  return adminToken !== undefined || oidc !== undefined;
}

/** Rejects an empty scope, which would allow everything: an unset variable must not create an unlimited token. */
function readScope(text: string): readonly string[] {
  const names = readValues(text);
  if (names.length > 0) return names;
  throw new UsageError('must include at least one name');
}

function tokensForPeople({ items }: TokenList, output: Output): string {
  if (items.length === 0) return "No tokens yet. 'hub tokens add' adds one.\n";
  return output.table(items, [
    { title: 'Token', text: ({ name }) => name },
    { title: 'Role', text: ({ role }) => role },
    { title: 'Scope', text: ({ scope }) => scope.join(', ') || 'everything', isFlexible: true },
    {
      title: 'Valid until',
      text: ({ expires_at, expired }) => (expired ? 'expired' : (expires_at?.slice(0, 10) ?? 'no expiry')),
    },
    { title: 'Created', text: ({ created_at, created_by }) => `${created_at.slice(0, 10)} by ${created_by}` },
  ]);
}
