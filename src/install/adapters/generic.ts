// For frameworks without a template: what is known of the entity, as JSON.
import { safeName } from '../places.ts';
import type { AdapterTemplate } from './adapter-template.ts';
import { type Connection, connectionOf, withNames } from './connection.ts';
import { shortName } from './short-name.ts';

export function genericStub(framework: string, templateKey: string): AdapterTemplate {
  return {
    path: (subject) => `adapters/${safeName(framework)}/${safeName(shortName(subject))}.${safeName(templateKey)}.json`,
    render: ({ subject, params }) => {
      const { uid, type, name, version, title, summary, description } = subject;
      const stub = {
        framework,
        template_key: templateKey,
        params,
        entity: { id: uid, type, name, version, title, summary, description },
        // Not the registration itself, which may hold what is secret.
        connection: plain(connectionOf(subject)),
      };
      return { kind: 'file', content: `${JSON.stringify(stub, null, 2)}\n` };
    },
  };
}

function plain(connection: Connection): object {
  if (connection.kind === 'remote') return { ...connection, url: withNames(connection.url) };
  return connection.kind === 'command' ? { ...connection, args: connection.args.map(withNames) } : connection;
}
