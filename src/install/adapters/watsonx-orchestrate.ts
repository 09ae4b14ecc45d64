// A watsonx Orchestrate toolkit with the tools of the entity.
import { stringify } from 'yaml';
import { type Launch, launchOf, type Variable } from '../../catalog/launch/launch.ts';
import { shortName } from '../../catalog/launch/launch-form.ts';
import type { JsonObject } from '../../lib/json.ts';
import { fillGaps, type GappedText } from '../../lib/secrets/secret-address.ts';
import type { AdapterTemplate } from './adapter-template.ts';
import { pyName } from './python-source.ts';

/** Characters that YAML parsers reject or treat as line breaks. */
const UNSAFE = /[\p{Cc}\u00a0\u2028\u2029\ufeff\ufffe\uffff]/gu;

const FOLDER = '# Before the toolkit is imported, add package_root: the folder of the server, which is uploaded.\n';

export const watsonxSkill: AdapterTemplate = {
  path: (subject) => `adapters/watsonx_orchestrate/${pyName(shortName(subject))}.yaml`,
  render: ({ subject, launch }) => {
    const name = pyName(shortName(subject));
    // The servers run inside Orchestrate, which cannot access the target.
    const published = launchOf(subject);
    const reached = published.kind === 'none' ? launch : published;
    // Toolkits have no fields for variables, so those with a value are also part of the connection.
    const missing = variablesOf(reached);
    const toolkit = {
      spec_version: 'v1',
      kind: 'mcp',
      name,
      description: plain(subject.description || subject.title),
      ...connectionFields(reached),
      tools: ['*'],
      ...(missing.length > 0 ? { connections: [name] } : {}),
    };
    // Strings are always quoted: YAML 1.1 parsers read `no` or `1_0` as other types.
    const text = stringify(toolkit, { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' });
    const isFolder = reached.kind === 'command' && /^(git|zip|mcpb)$/.test(String(subject.artifacts[0]?.kind));
    const unconnected = reached.kind === 'none' ? `# ${plain(reached.reason)} Add url or command.\n` : '';
    return { kind: 'file', content: `${isFolder ? FOLDER : ''}${unconnected}${commands(name, missing)}${text}` };
  },
};

function variablesOf(launch: Launch): readonly Variable[] {
  if (launch.kind === 'none') return [];
  return launch.kind === 'remote' ? launch.headers : launch.env;
}

function connectionFields(launch: Launch): JsonObject {
  if (launch.kind === 'none') return {};
  const named = (text: GappedText) => plain(fillGaps(text, ({ name }) => `\${${name}}`));
  if (launch.kind === 'remote') {
    return { url: named(launch.url), transport: launch.transport === 'sse' ? 'sse' : 'streamable_http' };
  }
  return { command: JSON.stringify([launch.command, ...launch.args.map(named)]) };
}

/** The values come from an Orchestrate connection. */
function commands(name: string, missing: readonly Variable[]): string {
  if (missing.length === 0) return '';
  const values = missing.map(({ name: key }) => `-e "${key}=<value>"`).join(' ');
  return `# Before the toolkit is imported:
#   orchestrate connections add --app-id ${name}
#   orchestrate connections configure --app-id ${name} --env draft --kind key_value --type team
#   orchestrate connections set-credentials --app-id ${name} --env draft ${values}
`;
}

function plain(text: string): string {
  return text.toWellFormed().replace(UNSAFE, ' ');
}
