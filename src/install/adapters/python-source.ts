// Python source: literals for manifest values, and the header of all Python adapters.
import type { Launch, Variable } from '../../catalog/launch/launch.ts';
import type { GappedText } from '../../lib/secrets/secret-address.ts';
import type { AdapterRequest } from './adapter-template.ts';

/** Defines `ENTITY` and `connection()`. `http` is the framework's name for streamable HTTP. */
export function pythonHeader({ subject, launch, path }: AdapterRequest, http: string): string {
  const { uid, type, name, version, title, description } = subject;
  const entity = Object.entries({ id: uid, type, name, version, title, description });
  return `ENTITY: dict[str, Any] = {${entity.map(([key, value]) => `${pyString(key)}: ${pyString(value)}`).join(', ')}}


def required(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise RuntimeError("Set the environment variable " + name + " for " + ENTITY["id"] + ".")
    return value


def connection() -> dict[str, Any]:
    """How the entity is reached. Secrets come from the environment, never from this file."""
${connectionBody(launch, path, http).replace(/^(?=.)/gm, '    ')}`;
}

function connectionBody(launch: Launch, path: string, http: string): string {
  switch (launch.kind) {
    case 'remote':
      return remoteBody(launch, http);
    case 'command':
      return commandBody(launch, path);
    case 'none':
      return `raise RuntimeError(ENTITY["id"] + " cannot be reached or started. " + ${pyString(launch.reason)})`;
  }
}

type Remote = Extract<Launch, { kind: 'remote' }>;
type Command = Extract<Launch, { kind: 'command' }>;

function remoteBody({ transport, url, headers }: Remote, http: string): string {
  return `return {
    "transport": ${pyString(transport === 'sse' ? 'sse' : http)},
    "url": ${gapped(url)},
    "headers": {${members(headers)}},
}`;
}

/** The server inherits a few variables that every program needs, plus those that are named. */
function commandBody({ command, args, env, isInTarget }: Command, path: string): string {
  const program = isInTarget
    ? `str(Path(__file__).resolve().parents[${path.split('/').length - 1}] / ${pyString(command)})`
    : pyString(command);
  return `from mcp.client.stdio import get_default_environment

return {
    "transport": "stdio",
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

/** JSON strings are valid Python strings. ASCII only, so that no text can end the string in any encoding. */
export function pyString(text: string): string {
  return JSON.stringify(text).replace(/[^ -~]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
  });
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

/** Turns any text into the start of an identifier, such as `pdf_tables`. */
export function pyName(text: string): string {
  const name = text
    .normalize('NFKD')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+/, '')
    .toLowerCase()
    .slice(0, 60)
    .replace(/_+$/, '');
  return /^[a-z]/.test(name) ? name : `entity_${name || 'unnamed'}`;
}
