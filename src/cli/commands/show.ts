// `hub show`.

import { artifactLine } from '../../catalog/artifact-kind.ts';
import type { EntityRecord } from '../../catalog/contract.ts';
import { transportName } from '../../catalog/transport.ts';
import { signalLine } from '../../catalog/trust-signals.ts';
import { gatewayLine, gatewayState } from '../../gateway/state-words.ts';
import { type EntityDetails, readDetails } from '../../hub/entity-details.ts';
import { harmless, harmlessJson } from '../../lib/harmless.ts';
import { asObject } from '../../lib/json.ts';
import { withoutCredentials } from '../../lib/secrets/credentials.ts';
import { type Call, command } from '../command.ts';
import { catalogId } from '../names.ts';
import { flag } from '../options.ts';
import type { Output } from '../output/output.ts';
import { facts } from '../output/table.ts';
import { oneLine, shownMoment, wrapped } from '../output/text.ts';

const MOST_VERSIONS = 10;

export const showCommands = [
  command({
    path: ['show'],
    isShort: true,
    summary: 'show everything about one entity',
    kind: 'hub',
    args: [
      {
        name: '<id>',
        description: 'a name, or <type>:<slug>@<version>; without the version, the newest stable one',
        names: 'entities',
      },
    ],
    options: {
      manifest: flag('--manifest', 'print the stored manifest'),
      readme: flag('--readme', 'also print the readme'),
      prerelease: flag('--prerelease', 'without a version: use the newest one, even if it is a pre-release'),
    },
    examples: [
      ['hub show mcp_server:postgres-reader', 'the newest stable version'],
      ['hub show tool:invoice-fields@2.2.0 --manifest > manifest.json', 'the manifest of one version, in a file'],
    ],
    async run({ args: [name = ''], options, terminal, output, access }) {
      const hub = await access.open();
      const id = await catalogId(name, hub, options);
      if (options.manifest) {
        const text = `${(await hub.getManifest(id)).text.trimEnd()}\n`;
        terminal.write(terminal.isTerminal ? harmlessJson(text) : text);
        return 'ok';
      }
      const entity = await hub.getEntity(id);
      const details = await readDetails(hub, entity);
      const manifest = manifestPlace(entity, access);
      return output.answer(entity, () => entityForPeople(entity, output, { ...options, details, manifest }));
    },
  }),
];

/** Without a named server, nothing may be listening at the address of the manifest. */
function manifestPlace(
  { id, manifest_url, source_url }: EntityRecord,
  { serverUrl }: Pick<Call['access'], 'serverUrl'>,
): string {
  return serverUrl === undefined && manifest_url !== source_url ? `hub show ${id} --manifest` : manifest_url;
}

function entityForPeople(
  entity: EntityRecord,
  { style, columns }: Output,
  { readme, details, manifest }: { readme: boolean; details: EntityDetails; manifest: string },
): string {
  const { lifecycle, quality } = entity;
  const said = lifecycle.reason ? `${lifecycle.status}: ${lifecycle.reason}` : lifecycle.status;
  const status = entity.missing_since ? `${said}, but no remote lists it` : said;
  const lacks = quality.filter(({ met }) => !met).map(({ reason }) => reason);
  const about = wrapped(harmless(entity.description || entity.summary), columns).join('\n');
  const paragraphs = [
    `${style.strong(oneLine(entity.id))}${entity.title ? `  ${oneLine(entity.title)}` : ''}\n`,
    about && `${about}\n`,
    facts([
      ['Type', entity.type],
      ['Name', entity.name],
      ['Version', entity.version],
      ['Publisher', publisherOf(entity)],
      ['Updated', entity.published_at && shownMoment(entity.published_at)],
      ['Status', status],
      ['License', entity.license],
      ['Homepage', entity.homepage],
      ['Tags', entity.tags.join(', ')],
      ['Capabilities', entity.capabilities.join(', ')],
      ['Frameworks', entity.frameworks.join(', ')],
      ['Providers', entity.providers.join(', ')],
      ['Manifest', manifest],
      [
        'Quality',
        `${Math.round(entity.score_quality * 100)} of 100${lacks.length > 0 ? `; not met: ${lacks.join(', ')}` : ''}`,
      ],
      ['Added', shownMoment(entity.created_at)],
      ['Content changed', entity.changed_at && shownMoment(entity.changed_at)],
      ['Blocked', entity.blocked_at && momentAndReason(entity.blocked_at, entity.blocked_reason)],
      ['Approval', entity.approval?.state],
      ['Hidden by', entity.hidden_by],
      ['Kept out of the gateway by', entity.held_by],
      ['Install', entity.install_refusal],
      ['Remote', entity.remote_name ? `${entity.remote_name} (${entity.remote})` : entity.remote],
      ['Also listed by', entity.listed_by.filter((url) => url !== entity.remote).join(', ')],
      ['Server', serverOf(entity)],
      ['Gateway', gatewayOf(entity)],
      ['Missing since', entity.missing_since && momentAndReason(entity.missing_since, entity.missing_reason)],
      ['Versions', versionsOf(entity)],
    ]),
    details.artifacts.map((artifact) => `Artifact  ${oneLine(artifactLine(artifact))}\n`).join(''),
    details.command !== null && `Command   ${oneLine(details.command)}\n`,
    (entity.trust?.signals ?? []).map((signal) => `Trust     ${oneLine(signalLine(signal))}\n`).join(''),
    entity.adapters
      .map(({ framework, template_key }) => `Adapter   ${oneLine(`${framework} ${template_key ?? ''}`)}\n`)
      .join(''),
    readme && entity.readme ? `${harmless(entity.readme).trimEnd()}\n` : '',
    entity.blocked_at === null &&
      !entity.install_refusal &&
      style.faint(
        `Install it: hub install ${oneLine(entity.id)}${entity.type === 'mcp_server' ? ' --client claude' : ''}\n`,
      ),
  ];
  return paragraphs.filter(Boolean).join('\n');
}

function gatewayOf(entity: EntityRecord): string | undefined {
  const { type, gateway_registered_at, gateway_error } = entity;
  const isKnown = gateway_registered_at !== null || gateway_error !== null;
  return isKnown || type === 'mcp_server' ? gatewayLine(gatewayState(entity, shownMoment)) : undefined;
}

function serverOf({ mcp_registration }: EntityRecord): string {
  const { url, transport } = asObject(withoutCredentials(mcp_registration)?.server);
  const speaks = typeof transport === 'string' ? transportName(transport) : '';
  return [url, speaks].filter((part) => typeof part === 'string' && part !== '').join(', ');
}

/** The namespace of a name such as `io.example/clock`. */
function publisherOf({ name }: EntityRecord): string {
  return name.includes('/') ? name.slice(0, name.indexOf('/')) : '';
}

function momentAndReason(moment: string, reason: string | null): string {
  return [shownMoment(moment), reason].filter(Boolean).join(': ');
}

function versionsOf({ versions }: EntityRecord): string {
  const shown = versions.slice(0, MOST_VERSIONS).map(({ version }) => version);
  return `${shown.join(', ')}${versions.length > MOST_VERSIONS ? `, … (${versions.length})` : ''}`;
}
