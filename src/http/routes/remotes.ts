// Routes for remotes, ingest and sync, each at its own path and at the one that existing clients call.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Caller } from '../../access/contract.ts';
import type { Hub } from '../../hub/hub.ts';
import { withoutCredentials } from '../../lib/secrets/credentials.ts';
import {
  IngestReport,
  IngestStatus,
  NewRemote,
  RejectionPage,
  RemoteAdded,
  RemoteChanged,
  RemoteList,
  RemoteReference,
  RemoteRemoved,
  RemoteSettings,
  SyncReport,
} from '../../remotes/contract.ts';
import { isOperator } from '../auth.ts';
import { sendEvents, wantsEvents } from '../event-stream.ts';
import { problems } from '../openapi.ts';
import { flag, wholeNumber, words } from '../query-string.ts';

const SyncBody = z
  .object({
    force: z
      .boolean()
      .default(false)
      .describe('Also try servers that can never be registered with their current manifests'),
  })
  .nullish();
const SyncQuery = z.object({
  force: flag(false)
    .describe('The same as `force` in the body.')
    .meta({ examples: ['true'] }),
});
const IngestBody = z
  .object({
    url: RemoteReference.nullish()
      .describe('Only this remote: its address or name')
      .meta({ examples: ['https://catalog.example.org/index.json'] }),
    name: RemoteReference.nullish().describe('The same as `url`'),
    remote: RemoteReference.nullish().describe('The same as `url`'),
    accept_shrunk: z
      .boolean()
      .default(false)
      .describe(
        'Accept an index that lists less than half of its earlier entries; entries that it no longer lists are then marked as missing',
      ),
  })
  .nullish();
const IngestQuery = z.object({ remote: RemoteReference.optional().describe('The same as `url` in the body.') });
const RemovedRemote = z.object({
  url: RemoteReference.nullish().meta({ examples: ['https://catalog.example.org/index.json'] }),
  name: RemoteReference.nullish().describe('The same as `url`. If both are given, they must name the same remote'),
  purge: z
    .boolean()
    .nullish()
    .describe('Delete entities that only this remote lists; otherwise they are marked as missing')
    .meta({ examples: [true] }),
});
const AddOrRemoveBody = z.discriminatedUnion(
  'op',
  [
    NewRemote.extend({ op: z.literal('add').nullish() }),
    RemovedRemote.extend({
      op: z.literal('delete').describe('The same as `DELETE /remotes`, for clients that cannot send it'),
    }),
  ],
  { error: ({ code }) => (code === 'invalid_union' ? 'must be add or delete' : undefined) },
);
const ChangeQuery = z.object({ remote: RemoteReference });
/** Some proxies drop the body of a DELETE, and some clients cannot send one. */
const RemoveQuery = z.object({
  url: RemoteReference.optional().describe('The same as `url` in the body.'),
  name: RemoteReference.optional().describe('The same as `url`.'),
  remote: RemoteReference.optional().describe('The same as `url`.'),
  purge: flag(false)
    .describe('The same as `purge` in the body.')
    .meta({ examples: ['true'] }),
});
const RejectionsQuery = z.object({
  url: words(1000)
    .optional()
    .describe('Only rejections of this remote: its address or name')
    .meta({ examples: ['https://catalog.example.org/index.json'] }),
  limit: wholeNumber(1, 1000)
    .prefault(100)
    .meta({ examples: [10] }),
  offset: wholeNumber(0, 1_000_000_000)
    .prefault(0)
    .meta({ examples: [0] }),
});

const tags = ['remotes'];
const SECRETS = 'On a hub with a token, only operators see secrets in the addresses of remotes; others see `***`.';

export function remoteRoutes(server: FastifyInstance, hub: Hub): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  /** Some hosts expect a token in the URL, which only operators may see. */
  const shownTo = async <T>(request: FastifyRequest, answer: T): Promise<T> =>
    (await isOperator(request, hub)) ? answer : withoutCredentials(answer);

  /** The first reference counts; the others must refer to the same remote. */
  const removeRemote = (caller: Caller, given: readonly (string | null | undefined)[], purge: boolean) => {
    const [reference = '', ...also] = given.filter((each) => typeof each === 'string');
    return hub.as(caller).removeRemote(reference, { purge, also });
  };

  for (const prefix of ['', '/catalog']) {
    app.get(
      `${prefix}/remotes`,
      {
        config: { operation: 'listRemotes' },
        schema: {
          tags,
          summary: 'List the remotes',
          description: SECRETS,
          response: { 200: RemoteList, ...problems('rate_limited', 'database_unavailable') },
        },
      },
      async (request) => shownTo(request, await hub.listRemotes()),
    );

    app.post(
      `${prefix}/remotes`,
      {
        config: { operation: 'addRemote' },
        schema: {
          tags,
          summary: 'Add a remote, or change the settings of an existing one',
          body: AddOrRemoveBody,
          response: {
            200: RemoteRemoved.describe('With `op: delete`'),
            201: RemoteAdded,
            ...problems('invalid_request', 'name_taken'),
          },
        },
      },
      async (request, reply) => {
        if (request.body.op === 'delete')
          return removeRemote(request.caller, [request.body.url, request.body.name], request.body.purge ?? false);
        const { url, op: _add, ...settings } = request.body;
        return reply.code(201).send(await hub.as(request.caller).addRemote(url, settings));
      },
    );

    app.patch(
      `${prefix}/remotes`,
      {
        config: { operation: 'changeRemote' },
        schema: {
          tags,
          summary: 'Change the settings of a remote',
          querystring: ChangeQuery,
          body: RemoteSettings,
          response: {
            200: RemoteChanged,
            ...problems('invalid_request', 'remote_not_found', 'name_taken'),
          },
        },
      },
      (request) => hub.as(request.caller).changeRemote(request.query.remote, request.body),
    );

    app.delete(
      `${prefix}/remotes`,
      {
        config: { operation: 'removeRemote' },
        schema: {
          tags,
          summary: 'Remove a remote',
          querystring: RemoveQuery,
          body: RemovedRemote.nullish(),
          response: { 200: RemoteRemoved, ...problems('invalid_request') },
        },
      },
      ({ body, query, caller }) =>
        removeRemote(caller, [body?.url, body?.name, query.url, query.name, query.remote], body?.purge || query.purge),
    );

    app.post(
      `${prefix}/remotes/sync`,
      {
        config: { operation: 'syncRemotes', streamsProgress: true },
        schema: {
          tags,
          summary: 'Ingest all remotes, then register new servers',
          description:
            'With `Accept: text/event-stream`, progress is streamed as events, and the last event, `result`, is the ordinary body.',
          querystring: SyncQuery,
          body: SyncBody,
          response: { 200: SyncReport, ...problems('invalid_request', 'sync_running') },
        },
      },
      async (request, reply) => {
        const options = { force: request.body?.force || request.query.force };
        const { syncRemotes } = hub.as(request.caller);
        if (wantsEvents(request)) return sendEvents(request, reply, (report) => syncRemotes(report, options));
        return syncRemotes(undefined, options);
      },
    );

    app.post(
      `${prefix}/ingest`,
      {
        config: { operation: 'ingest', streamsProgress: true },
        schema: {
          tags,
          summary: 'Ingest one remote, or all of them',
          description:
            'With `Accept: text/event-stream`, progress is streamed as events, and the last event, `result`, is the ordinary body.',
          querystring: IngestQuery,
          body: IngestBody,
          response: { 200: IngestReport, ...problems('invalid_request') },
        },
      },
      async (request, reply) => {
        const { url: address, name, remote } = request.body ?? {};
        const url = address ?? name ?? remote ?? request.query.remote;
        const options = { acceptShrunk: request.body?.accept_shrunk };
        const { ingest } = hub.as(request.caller);
        if (wantsEvents(request)) return sendEvents(request, reply, (report) => ingest(url, report, options));
        return ingest(url, undefined, options);
      },
    );
  }

  app.get(
    '/ingest/status',
    {
      config: { operation: 'ingestStatus' },
      schema: {
        tags,
        summary: 'Running and recent ingests',
        description: SECRETS,
        response: { 200: IngestStatus, ...problems('rate_limited', 'database_unavailable') },
      },
    },
    async (request) => shownTo(request, await hub.ingestStatus()),
  );

  app.get(
    '/remotes/rejections',
    {
      config: { operation: 'listRejections' },
      schema: {
        tags,
        summary: 'Manifests that were refused, and why',
        querystring: RejectionsQuery,
        response: { 200: RejectionPage, ...problems('invalid_request') },
      },
    },
    (request) => hub.listRejections(request.query),
  );
}
