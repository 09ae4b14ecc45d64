// A toolkit of watsonx Orchestrate that offers the tools of the entity as skills.
import type { JsonObject } from '../../lib/json.ts';
import type { AdapterTemplate } from './adapter-template.ts';
import { type Connection, connectionOf, withNames } from './connection.ts';
import { pyName } from './python-text.ts';
import { shortName } from './short-name.ts';
import { yamlText } from './yaml-text.ts';

export const watsonxSkill: AdapterTemplate = {
  path: (subject) => `adapters/watsonx_orchestrate/${pyName(shortName(subject))}.yaml`,
  render: ({ subject, params }) => {
    const toolkit = {
      spec_version: 'v1',
      kind: 'mcp',
      name: pyName(shortName(subject)),
      description: subject.description || subject.title,
      ...connectionFields(connectionOf(subject)),
      tools: ['*'],
      ...(Object.keys(params).length > 0 ? { params } : {}),
      metadata: { id: subject.uid, version: subject.version },
    };
    return { kind: 'file', content: yamlText(toolkit) };
  },
};

function connectionFields(connection: Connection): JsonObject {
  switch (connection.kind) {
    case 'remote':
      return {
        transport: connection.transport === 'sse' ? 'sse' : 'streamable_http',
        server_url: withNames(connection.url),
      };
    case 'command':
      return {
        transport: 'stdio',
        command: JSON.stringify([connection.command, ...connection.args.map(withNames)]),
        // With its value where that is no secret; the others come from a connection of theirs.
        env: connection.env.map(({ name, value }) => (value === undefined ? name : `${name}=${value}`)),
      };
    case 'unknown':
      return {};
  }
}
