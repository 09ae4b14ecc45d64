// Converts a registry's arguments, headers and variables to text, with placeholders for values that the user provides.

import { asObject, asText, type JsonObject } from '../../lib/json.ts';
import { withoutCredentials } from '../../lib/secrets/credentials.ts';
import type { Gap, GappedText } from '../../lib/secrets/secret-address.ts';
import { gapArguments } from '../../lib/secrets/secret-arguments.ts';
import { isSecretVariable } from '../../lib/secrets/secret-names.ts';
import type { Variable } from './launch-form.ts';
import { plainText } from './package-runner.ts';

const STANDS_FOR_A_VALUE = /^\s*$|^<.*>$|^\$\{?.*\}?$|^\{.*\}$|^your[-_ ]|^x{3,}$|^changeme$/i;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const HEADER_NAME = /^[A-Za-z0-9-]{1,64}$/;
const MOST_VARIABLES = 200;

/** The words of a command; registries write some of them as objects. Secrets become gaps. */
export function commandWords(words: unknown, isSwitch: (name: string) => boolean = () => false): GappedText[] {
  return withoutSecrets(wordsWithSecrets(words, isSwitch));
}

/** For code that only looks for a package. */
export function wordsWithSecrets(words: unknown, isSwitch: (name: string) => boolean = () => false): GappedText[] {
  return Array.isArray(words) ? words.flatMap((word) => wordsOf(word, isSwitch)) : [];
}

function wordsOf(word: unknown, isSwitch: (name: string) => boolean): GappedText[] {
  if (typeof word === 'number') return [[String(word)]];
  if (typeof word === 'string') return word === '' ? [] : [gapPlaceholders(word)];
  return argumentWords(asObject(word), isSwitch);
}

/** Empty for an optional argument without a value. */
function argumentWords(argument: JsonObject, isSwitch: (name: string) => boolean): GappedText[] {
  const name = asText(argument.name);
  const value = argumentValue(argument);
  // The name of a positional argument is only a label; so is a name without a dash and without a type.
  const isNamed = argument.type === 'named' || (argument.type !== 'positional' && name?.startsWith('-'));
  if (name === undefined || !isNamed) return value ? [value] : [];
  const isFlag = isSwitch(name) || argument.format === 'boolean';
  if (isFlag && (value === undefined || ['true', 'false'].includes(plainText(value)))) {
    const isOn = value ? plainText(value) === 'true' : isSwitch(name) || isRequired(argument);
    return isOn ? [[name]] : [];
  }
  if (value) return name.endsWith('=') ? [joined([name, ...value])] : [[name], value];
  return isBareSwitch(argument, name) ? [[name]] : [];
}

/** A name without anything that describes a value: `--verbose`. Always for `--stdio`, without which clients could not use the server. */
function isBareSwitch(argument: JsonObject, name: string): boolean {
  return name === '--stdio' || Object.keys(argument).every((key) => ['type', 'name'].includes(key));
}

function argumentValue(argument: JsonObject): GappedText | undefined {
  const hint = asText(argument.valueHint) ?? asText(argument.name)?.replace(/^-+/, '');
  const gap: GappedText = [{ name: hint?.replace(/[<>]/g, '') || 'value' }];
  return templateValue(argument) ?? (isRequired(argument) ? gap : undefined);
}

/** Undefined if it has no value, is secret, or needs an optional variable. */
function templateValue(input: JsonObject): GappedText | undefined {
  if (isSecret(input)) return undefined;
  const variables = asObject(input.variables);
  const [template, fallback] = [textOf(input.value), textOf(input.default)];
  // A `{level}` without a description is only a placeholder for the default.
  const isOpen =
    template !== undefined && /^\{[\w.-]+\}$/.test(template) && !Object.hasOwn(variables, template.slice(1, -1));
  const text = isOpen ? fallback : (template ?? fallback);
  return text === undefined ? undefined : fillTemplate(text, variables, isRequired(input));
}

/** Replaces `{name}` or `${name}` with the variable's value or a gap; undefined when an optional variable has no value. */
export function fillTemplate(text: string, variables: JsonObject, isWanted: boolean): GappedText | undefined {
  const parts: (string | Gap)[] = [];
  for (const part of text.split(/(\$?\{[\w.-]+\})/)) {
    const name = /^\$?\{(.+)\}$/.exec(part)?.[1];
    if (name === undefined || !Object.hasOwn(variables, name)) {
      parts.push(...gapPlaceholders(part));
      continue;
    }
    const variable = asObject(variables[name]);
    const known = isSecret(variable) ? undefined : (textOf(variable.value) ?? textOf(variable.default));
    if (known === undefined && !isRequired(variable) && !isWanted) return undefined;
    parts.push(known ?? { name });
  }
  return joined(parts);
}

/** `<folder>` and `${FOLDER}` are for the user to fill in. */
function gapPlaceholders(text: string): GappedText {
  const [, whole] = /^<([^<>]+)>$/.exec(text) ?? [];
  if (whole) return [{ name: whole }];
  const parts = text.split(/(\$\{\w+(?::-[^{}]*)?\})/).map((part) => {
    const [, name, fallback] = /^\$\{(\w+)(?::-([^{}]*))?\}$/.exec(part) ?? [];
    return name === undefined ? part : (fallback ?? { name });
  });
  return joined(parts);
}

function joined(parts: readonly (string | Gap)[]): GappedText {
  const texts: (string | Gap)[] = [];
  for (const part of parts) {
    const last = texts.at(-1);
    if (typeof part === 'string' && typeof last === 'string') texts[texts.length - 1] = last + part;
    else if (part !== '') texts.push(part);
  }
  return texts.length === 0 ? [''] : texts;
}

/** Removes the values from `--api-key abc` and `TOKEN=abc`. */
function withoutSecrets(words: readonly GappedText[]): GappedText[] {
  const isPlain = (word: GappedText) => word.length === 1 && typeof word[0] === 'string';
  const plain = words.map((word) => (isPlain(word) ? (word[0] as string) : { name: '' }));
  const gapped = gapArguments(plain);
  return words.map((word, index) => (isPlain(word) ? (gapped[index] ?? word) : word));
}

/** The variables of a package and those set by the server's registration, which take precedence. */
export function environmentOf(listed: readonly JsonObject[], registered: JsonObject): Variable[] {
  const described = new Map(listed.map((each) => [asText(each.name), each]));
  const own = Object.entries(registered).map(([name, value]) => {
    const description = described.get(name) ?? {};
    // A value that is missing in a registration is required, unless the registry says otherwise.
    const variable = variableOf({ isRequired: true, ...description, name, value: value ?? '' });
    return variable && { ...variable, isRequired: variable.value === undefined || isRequired(description) };
  });
  return uniqueByName([...listed.map(variableOf), ...own], VARIABLE_NAME);
}

export function headersOf(listed: readonly JsonObject[]): Variable[] {
  return uniqueByName(listed.map(variableOf), HEADER_NAME);
}

/** Undefined without a name, and for an optional variable without a value. */
function variableOf(input: JsonObject): Variable | undefined {
  const name = asText(input.name);
  if (!name) return undefined;
  const value = openValue(name, input);
  const hasGaps = templateValue(input)?.some((part) => typeof part !== 'string') ?? false;
  if (value === undefined && !isRequired(input) && !hasGaps) return undefined;
  const description = descriptionOf(input, value);
  return {
    name,
    from: name,
    value,
    isRequired: isRequired(input) || hasGaps,
    ...(description ? { description } : {}),
  };
}

/** Undefined if the value is secret or a placeholder. */
function openValue(name: string, input: JsonObject): string | undefined {
  if (input.isSecret !== false && isSecretVariable(name)) return undefined;
  const [text, ...gaps] = templateValue(input) ?? [];
  if (typeof text !== 'string' || gaps.length > 0 || STANDS_FOR_A_VALUE.test(text)) return undefined;
  // For example, a password in a database URL.
  return withoutCredentials(text) === text ? text : undefined;
}

/** Includes the form of the value if part of it is fixed: `Bearer {token}`. */
function descriptionOf(input: JsonObject, value: string | undefined): string | undefined {
  const description = asText(input.description);
  const template = asText(input.value);
  const hasForm =
    value === undefined && template !== undefined && /^[\w-]+ [{<$][^{}<>$]*\{?[\w-]+[}>]$/.test(template);
  // Clients may resolve `${NAME}` anywhere in their files.
  return hasForm ? `${description ?? 'The whole value'} (${template.replaceAll('$', '')})` : description;
}

/** For duplicate names, the last one wins. */
function uniqueByName(variables: readonly (Variable | undefined)[], form: RegExp): Variable[] {
  const known = variables.filter((each) => each !== undefined && form.test(each.name)) as Variable[];
  return [...new Map(known.map((each) => [each.name, each])).values()].slice(0, MOST_VARIABLES);
}

function isRequired(input: JsonObject): boolean {
  return input.isRequired === true;
}

function isSecret(input: JsonObject): boolean {
  return input.isSecret === true;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : asText(value);
}
