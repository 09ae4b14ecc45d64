// The templates of glue code, by framework and key.
import { CLIENT_LAYOUTS, CLIENTS, type ClientName, clientEntry, clientText } from '../../catalog/client-config.ts';
import type { Launch } from '../../catalog/launch/launch.ts';
import { shortName } from '../../catalog/launch/launch-form.ts';
import { withoutCredentials } from '../../lib/secrets/credentials.ts';
import { fillGaps, type GappedText } from '../../lib/secrets/secret-address.ts';
import { safeName } from '../target/places.ts';
import type { AdapterTemplate } from './adapter-template.ts';
import { autogenTool, crewaiTool, langgraphNode } from './python-templates.ts';
import { watsonxSkill } from './watsonx-orchestrate.ts';

export const CLIENT_KEY = 'mcp';

const TEMPLATES: Readonly<Record<string, Readonly<Record<string, AdapterTemplate>>>> = {
  langgraph: { node: langgraphNode },
  crewai: { tool: crewaiTool },
  autogen: { tool: autogenTool },
  watsonx_orchestrate: { skill: watsonxSkill },
  ...Object.fromEntries(CLIENTS.map((client) => [client, { [CLIENT_KEY]: clientTemplate(client) }])),
};

/** Returns undefined for an unknown pair. Without a key, returns the framework's only template. */
export function findTemplate(framework: string, templateKey: string): AdapterTemplate | undefined {
  const name = normal(framework);
  const templates = Object.hasOwn(TEMPLATES, name) ? TEMPLATES[name] : undefined;
  if (!templates) return undefined;
  const key = normal(templateKey).replace(`${name}_`, '');
  if (key === '') return Object.values(templates)[0];
  return Object.hasOwn(templates, key) ? templates[key] : undefined;
}

function normal(name: string): string {
  return name.trim().toLowerCase().replaceAll(/[-. ]/g, '_');
}

function clientTemplate(client: ClientName): AdapterTemplate {
  const { file, isUserFile, section, format, label, note } = CLIENT_LAYOUTS[client];
  const where =
    `${note ?? ''} Nothing is written for ${label}: add the entry that the install shows to ${file}.`.trim();
  return {
    ...(isUserFile ? { note: where } : { entryOf: { format, section } }),
    path: () => file,
    render: ({ subject, launch, targetDir }) => {
      if (launch.kind === 'none') return { kind: 'paste', note: notWritten(client, launch.reason) };
      const entry = clientEntry(client, launch, subject, targetDir);
      if (isUserFile) return { kind: 'paste', note: where, text: clientText(client, entry).trim() };
      return { kind: 'entry', format, section, ...entry };
    },
  };
}

/** Why a client gets no entry for what cannot be reached or started. */
export function notWritten(client: string, reason: string): string {
  return `Nothing is written for '${client}', because this entity cannot be reached or started. ${reason}`;
}

/** Glue code is written anyway: a person completes it. */
export function unconnected(path: string, reason: string): string {
  return `'${path}' has no connection to the entity yet. ${reason}`;
}

/** The template for unknown frameworks: a description of the entity, as JSON. */
export function genericStub(framework: string, templateKey: string): AdapterTemplate {
  return {
    path: (subject) => `adapters/${safeName(framework)}/${safeName(shortName(subject))}.${safeName(templateKey)}.json`,
    render: ({ subject, params, launch }) => {
      const { uid, type, name, version, title, summary, description } = subject;
      const entity = { id: uid, type, name, version, title, summary, description };
      const shown = { params: withoutCredentials(params), entity, connection: plain(launch) };
      const content = { framework, template_key: templateKey, ...shown };
      return { kind: 'file', content: `${JSON.stringify(content, null, 2)}\n` };
    },
  };
}

/** Omits the registration itself, which may contain secrets. */
function plain(launch: Launch): object {
  if (launch.kind === 'none') return launch;
  const named = (text: GappedText) => fillGaps(text, ({ name }) => `\${${name}}`);
  if (launch.kind === 'remote') return { ...launch, url: named(launch.url) };
  const { kind, command, args, env } = launch;
  return { kind, command, args: args.map(named), env };
}
