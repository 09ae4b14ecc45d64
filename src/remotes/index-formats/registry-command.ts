// A package of an MCP registry → the command that runs it, with its arguments and its environment.
import { asObject, asObjects, asText, type JsonObject } from '../../lib/json.ts';
import { isSecretVariable } from '../../lib/secret-names.ts';
import { either } from './spellings.ts';

export interface RegistryCommand {
  /** What everybody has to fill in stands as `<name>`. Empty when nothing is known to run it. */
  cmd: string[];
  /** What everybody has to fill in stands as `${NAME}`. */
  env: Record<string, string>;
}

/** A map, because the key is a stranger's word: an object also knows 'constructor'. */
const RUNNERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['npm', ['npx', '-y']],
  ['pypi', ['uvx']],
  ['oci', ['docker', 'run', '-i', '--rm']],
]);

export function commandOf(pack: JsonObject): RegistryCommand {
  const registry = asText(either(pack, 'registryType', 'registry_type', 'registry_name')) ?? '';
  const hint = asText(either(pack, 'runtimeHint', 'runtime_hint'));
  const identifier = asText(pack.identifier) ?? asText(pack.name);
  const env = environmentOf(pack);
  const runner = RUNNERS.get(registry) ?? (hint ? [hint] : undefined);
  if (!runner || !identifier) return { cmd: [], env };
  const version = asText(pack.version);
  const separator = registry === 'pypi' ? '==' : registry === 'oci' ? ':' : '@';
  const wanted = version ? `${identifier}${separator}${version}` : identifier;
  // Those for another program say nothing to this one. Some repeat what is there already.
  const isMeant = hint === undefined || hint === runner[0];
  const given = isMeant ? argumentsOf(pack, 'runtimeArguments', 'runtime_arguments') : [];
  const runtime = given.filter(
    ([word = '', ...more]) => more.length > 0 || ![...runner, identifier, wanted].includes(word),
  );
  const passed = registry === 'oci' ? passedOn(Object.keys(env), runtime.flat()) : [];
  const own = argumentsOf(pack, 'packageArguments', 'package_arguments');
  return { cmd: [...runner, ...runtime.flat(), ...passed, wanted, ...own.flat()], env };
}

/** A container sees no variable of the one who starts it, unless it is named. */
function passedOn(names: readonly string[], words: readonly string[]): string[] {
  const isNamed = (name: string) => words.some((word) => word === name || word.startsWith(`${name}=`));
  return names.filter((name) => !isNamed(name)).flatMap((name) => ['-e', name]);
}

/** The words of each argument; of those that nobody has to give, only what has a value. */
function argumentsOf(pack: JsonObject, ...keys: string[]): string[][] {
  return asObjects(either(pack, ...keys)).map((argument) => {
    const name = asText(argument.name);
    const isNamed = argument.type === 'named' && name !== undefined;
    const value = knownValue(argument) ?? (isRequired(argument) ? `<${hintOf(argument)}>` : undefined);
    if (!isNamed) return value === undefined ? [] : [value];
    if (value !== undefined) return [name, value];
    return isSwitch(argument) ? [name] : [];
  });
}

/** Undefined when it has none, or needs a variable that has none and is nobody's duty to give. */
function knownValue(input: JsonObject): string | undefined {
  const template = textOf(input.value) ?? textOf(input.default);
  if (template === undefined || isSecret(input)) return undefined;
  const variables = asObject(input.variables);
  let isComplete = true;
  const value = template.replace(/\{([\w.-]+)\}/g, (written, name: string) => {
    if (!Object.hasOwn(variables, name)) return written;
    const variable = asObject(variables[name]);
    const known = isSecret(variable) ? undefined : (textOf(variable.value) ?? textOf(variable.default));
    if (known === undefined && !isRequired(variable) && !isRequired(input)) isComplete = false;
    return known ?? `<${name}>`;
  });
  return isComplete ? value : undefined;
}

/** A name and nothing that speaks of a value: `--verbose`. */
function isSwitch(argument: JsonObject): boolean {
  return Object.keys(argument).every((key) => ['type', 'name'].includes(key));
}

function environmentOf(pack: JsonObject): Record<string, string> {
  const variables = asObjects(either(pack, 'environmentVariables', 'environment_variables'));
  return Object.fromEntries(
    variables.flatMap((variable) => {
      const name = asText(variable.name);
      if (!name) return [];
      const mayBeSecret = either(variable, 'isSecret', 'is_secret') === undefined && isSecretVariable(name);
      const value = mayBeSecret ? undefined : knownValue(variable);
      if (value === undefined && !isRequired(variable)) return [];
      // Clients fill in whole values only.
      const isOpen =
        value === undefined || Object.keys(asObject(variable.variables)).some((gap) => value.includes(`<${gap}>`));
      return [[name, isOpen ? `\${${name}}` : value]];
    }),
  );
}

function hintOf(argument: JsonObject): string {
  const hint = asText(either(argument, 'valueHint', 'value_hint')) ?? asText(argument.name)?.replace(/^-+/, '');
  return hint?.replace(/[<>]/g, '') || 'value';
}

function isRequired(input: JsonObject): boolean {
  return either(input, 'isRequired', 'is_required') === true;
}

function isSecret(input: JsonObject): boolean {
  return either(input, 'isSecret', 'is_secret') === true;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : asText(value);
}
