// Python source: values of manifests as literals, and the part that all Python adapters begin with.
import type { Variable } from '../../catalog/launch/launch.ts';
import type { GappedText } from '../../lib/secret-address.ts';
import type { AdapterRequest, Reachable } from './adapter-template.ts';

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

/** A literal of a JSON value, in ASCII only: no text can end it, whatever encoding the file is read in. */
function pyLiteral(value: unknown): string {
  if (typeof value === 'string') return pyString(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pyLiteral).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, each]) => each !== undefined);
    return `{${members.map(([key, each]) => `${pyString(key)}: ${pyLiteral(each)}`).join(', ')}}`;
  }
  return 'None';
}

export function pyString(text: string): string {
  const signs = [...text].map((sign) => {
    if (sign === '"' || sign === '\\') return `\\${sign}`;
    const code = sign.codePointAt(0) ?? 0;
    if (code >= 0x20 && code < 0x7f) return sign;
    return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
  });
  return `"${signs.join('')}"`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

const KEYWORDS = [
  ...['false', 'none', 'true', 'and', 'as', 'assert', 'async', 'await', 'break', 'class', 'continue', 'def', 'del'],
  ...['elif', 'else', 'except', 'finally', 'for', 'from', 'global', 'if', 'import', 'in', 'is', 'lambda', 'nonlocal'],
  ...['not', 'or', 'pass', 'raise', 'return', 'try', 'while', 'with', 'yield', 'match', 'case', 'type'],
];

/** `pdf_tables` from any text. */
export function pyName(text: string): string {
  const name = text
    .normalize('NFKD')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .toLowerCase()
    .slice(0, 60)
    .replace(/_+$/, '');
  return name === '' || /^\d/.test(name) || KEYWORDS.includes(name) ? `entity_${name || 'unnamed'}` : name;
}
