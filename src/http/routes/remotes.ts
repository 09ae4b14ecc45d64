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
import { endpoint } from '../openapi.ts';
import { flag, limit, offset, words } from '../query-string.ts';

const SyncBody = z
  .object({
    force: z
      .boolean()
      .nullable()
      .default(false)
      .transform(Boolean)
      .describe(
        'Also try servers that can never be registered with their current manifests, or that their remote no longer lists',
      ),
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
      .nullable()
      .default(false)
      .transform(Boolean)
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
    .describe('Remove entities that only this remote lists; otherwise they are marked as missing')
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
  limit: limit({ most: 1000, usual: 100 }),
  offset: offset(),
});

const tags = ['Remotes'];
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
      endpoint('listRemotes', {
        tags,
        summary: 'List the remotes',
        description: SECRETS,
        response: { 200: RemoteList },
      }),
      async (request) => shownTo(request, await hub.listRemotes()),
    );

    app.post(
      `${prefix}/remotes`,
      endpoint('addRemote', {
        tags,
        summary: 'Add a remote, or change the settings of an existing one',
        body: AddOrRemoveBody,
        errors: ['name_taken'],
        response: { 200: RemoteRemoved.describe('With `op: delete`'), 201: RemoteAdded },
      }),
      async (request, reply) => {
        if (request.body.op === 'delete')
          return removeRemote(request.caller, [request.body.url, request.body.name], request.body.purge ?? false);
        const { url, op: _add, ...settings } = request.body;
        return reply.code(201).send(await hub.as(request.caller).addRemote(url, settings));
      },
    );

    app.patch(
      `${prefix}/remotes`,
      endpoint('changeRemote', {
        tags,
        summary: 'Change the settings of a remote',
        querystring: ChangeQuery,
        body: RemoteSettings,
        errors: ['remote_not_found', 'name_taken'],
        response: { 200: RemoteChanged },
      }),
      (request) => hub.as(request.caller).changeRemote(request.query.remote, request.body),
    );

    app.delete(
      `${prefix}/remotes`,
      endpoint('removeRemote', {
        tags,
        summary: 'Remove a remote',
        querystring: RemoveQuery,
        body: RemovedRemote.nullish(),
        response: { 200: RemoteRemoved },
      }),
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
          errors: ['sync_running'],
          response: { 200: SyncReport },
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
          response: { 200: IngestReport },
        },
      },
      async (request, reply) => {
        const { url: address, name, remote } = request.body ?? {};
        const url = address ?? name ?? remote ?? request.query.remote;
        const field = address != null ? 'url' : name != null ? 'name' : 'remote';
        const options = { acceptShrunk: request.body?.accept_shrunk, field };
        const { ingest } = hub.as(request.caller);
        if (wantsEvents(request)) return sendEvents(request, reply, (report) => ingest(url, report, options));
        return ingest(url, undefined, options);
      },
    );
  }

  app.get(
    '/ingest/status',
    endpoint('ingestStatus', {
      tags,
      summary: 'Running and recent ingests',
      description: SECRETS,
      response: { 200: IngestStatus },
    }),
    async (request) => shownTo(request, await hub.ingestStatus()),
  );

  app.get(
    '/remotes/rejections',
    endpoint('listRejections', {
      tags,
      summary: 'Manifests that were refused, and why',
      querystring: RejectionsQuery,
      response: { 200: RejectionPage },
    }),
    (request) => hub.listRejections(request.query),
  );
}
