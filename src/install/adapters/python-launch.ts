// The part that all Python adapters begin with: what the entity is, and how it is reached.
import type { Variable } from '../../catalog/launch/launch.ts';
import type { GappedText } from '../../lib/secret-address.ts';
import type { AdapterRequest, Reachable } from './adapter-template.ts';
import { pyLiteral, pyString } from './python-text.ts';

/** Frameworks call the same transports by different names. */
export interface TransportNames {
  http: string;
  sse: string;
  stdio: string;
}

/** Defines `ENTITY` and `connection()`. */
export function pythonHeader({ subject, launch, path }: AdapterRequest, names: TransportNames): string {
  const { uid, type, name, version, title, description } = subject;
  const body = launch.kind === 'remote' ? remoteBody(launch, names) : commandBody(launch, names, path);
  return `ENTITY: dict[str, Any] = ${pyLiteral({ id: uid, type, name, version, title, description })}


def required(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise RuntimeError("Set the environment variable " + name + " for " + ENTITY["id"] + ".")
    return value


def connection() -> dict[str, Any]:
    """How the entity is reached. Secrets come from the environment, never from this file."""
${body.replace(/^(?=.)/gm, '    ')}`;
}

type Remote = Extract<Reachable, { kind: 'remote' }>;
type Command = Extract<Reachable, { kind: 'command' }>;

function remoteBody({ transport, url, headers }: Remote, names: TransportNames): string {
  return `return {
    "transport": ${pyString(names[transport])},
    "url": ${gapped(url)},
    "headers": {${members(headers)}},
}`;
}

/** Servers get the few variables that every program needs, and those that are named. */
function commandBody({ command, args, env, isInTarget }: Command, names: TransportNames, path: string): string {
  const program = isInTarget
    ? `str(Path(__file__).resolve().parents[${path.split('/').length - 1}] / ${pyString(command)})`
    : pyString(command);
  return `from mcp.client.stdio import get_default_environment

return {
    "transport": ${pyString(names.stdio)},
    "command": ${program},
    "args": [${args.map(gapped).join(', ')}],
    "env": {**get_default_environment(), ${members(env)}},
}`.replace(', }', '}');
}

function gapped(text: GappedText): string {
  if (text.length === 0) return pyString('');
  return text.map((part) => (typeof part === 'string' ? pyString(part) : fromEnvironment(part.name))).join(' + ');
}

function fromEnvironment(variable: string): string {
  return `required(${pyString(variable)})`;
}

function members(variables: readonly Variable[]): string {
  const value = (each: Variable) => (each.value === undefined ? fromEnvironment(each.from) : pyString(each.value));
  return variables.map((each) => `${pyString(each.name)}: ${value(each)}`).join(', ');
}
