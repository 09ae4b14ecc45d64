// The part that all Python adapters begin with: what the entity is, and how it is reached.
import type { GappedText } from '../../lib/secret-address.ts';
import type { AdapterRequest } from './adapter-template.ts';
import { type Connection, connectionOf, type Variable } from './connection.ts';
import { pyLiteral, pyString } from './python-text.ts';

/** Defines `ENTITY`, `PARAMS` and `connection()`. Needs `os` and `Any`. */
export function pythonHeader({ subject, params }: AdapterRequest, keys: ConnectionKeys): string {
  const { uid, type, name, version, title, description } = subject;
  return `ENTITY: dict[str, Any] = ${pyLiteral({ id: uid, type, name, version, title, description })}
PARAMS: dict[str, Any] = ${pyLiteral(params)}


def connection() -> dict[str, Any]:
    """How the entity is reached. Secrets come from the environment, never from this file."""
${indent(connectionBody(connectionOf(subject), keys))}`;
}

/** Frameworks call the same transports by different names. */
export interface ConnectionKeys {
  http: string;
  sse: string;
  stdio: string;
}

function connectionBody(connection: Connection, keys: ConnectionKeys): string {
  switch (connection.kind) {
    case 'remote':
      return `return {
    "transport": ${pyString(keys[connection.transport])},
    "url": ${gapped(connection.url)},
    "headers": ${variables(connection.headers)},
}`;
    case 'command':
      return `return {
    "transport": ${pyString(keys.stdio)},
    "command": ${pyString(connection.command)},
    "args": [${connection.args.map(gapped).join(', ')}],
    "env": ${variables(connection.env, '**os.environ')},
}`;
    case 'unknown':
      return `raise RuntimeError("The manifest of " + ENTITY["id"] + " does not say how it is reached.")`;
  }
}

function gapped(text: GappedText): string {
  if (text.length === 0) return pyString('');
  return text.map((part) => (typeof part === 'string' ? pyString(part) : fromEnvironment(part.name))).join(' + ');
}

function fromEnvironment(variable: string): string {
  return `os.environ.get(${pyString(variable)}, "")`;
}

function variables(list: readonly Variable[], first?: string): string {
  const members = list.map(
    ({ name, from, value }) => `${pyString(name)}: ${value === undefined ? fromEnvironment(from) : pyString(value)}`,
  );
  return `{${[...(first ? [first] : []), ...members].join(', ')}}`;
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '    ');
}
