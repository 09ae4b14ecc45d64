// Removes credentials from untrusted documents: by field name, and from URLs.
import { isJsonObject, type JsonObject } from '../json.ts';
import { isAddress, shownAddress } from './secret-address.ts';
import { isSecretKey, isSecretVariable } from './secret-names.ts';
import { hidden, shownCommandLine, shownNumber, shownText, shownWord } from './secret-words.ts';

/** Everything in these fields is confidential, regardless of its name … */
const CLOSED = /^(headers|cookies|credentials|secrets|auth|authentication|authorization)$/i;
/** … except for its description. */
const DESCRIPTION =
  /^(type|scheme|kind|name|key|in|format|pattern|flow|scopes?|title|description|required|placeholder|\$ref|m(in|ax)[A-Z]\w+|.*(_|^)(ttl|expires_in|timeout)|.*_?ur[il])$/i;
const ENVIRONMENT = /^(env|environment)$/i;
const COMMAND = /^(run|exec|entrypoint)$|(command|cmd|args|argv|argument)s?$/i;
const VALUE = /^(value|default)$/;

type Place = 'open' | 'closed' | 'environment' | 'command';

/** A JSON value that may be shown to anyone: secrets are replaced with `***`, everything else is unchanged. */
export function withoutCredentials<T>(value: T): T {
  return shown(value, 'open') as T;
}

/** `name` is the key of the value or of the object around it. */
function shown(value: unknown, place: Place, name?: string): unknown {
  if (typeof value === 'string' || typeof value === 'number') return shownLeaf(value, place, name);
  if (Array.isArray(value)) return value.map((each, index) => shownElement(each, value[index - 1], { place, name }));
  return isJsonObject(value) ? shownObject(value, place) : value;
}

function shownLeaf(value: string | number, place: Place, name?: string): unknown {
  if (place === 'closed') return hidden(value, name);
  if (typeof value === 'number') return value;
  return place === 'command' ? shownCommandLine(value) : shownText(value);
}

function shownElement(value: unknown, before: unknown, { place, name }: { place: Place; name?: string }): unknown {
  if (place === 'closed') return shown(value, place, name);
  if (typeof value === 'number') return shownNumber(value, before);
  if (typeof value !== 'string') return shown(value, place);
  if (place === 'command' && before === '-c') return shownCommandLine(value);
  const word = shownWord(value, before);
  return place === 'command' && word === value ? shownCommandLine(value) : word;
}

function shownObject(object: JsonObject, place: Place): JsonObject {
  const named = [object.name, object.key].find((each) => typeof each === 'string') as string | undefined;
  const isOfSecret = object.isSecret === true || (named !== undefined && isSecretIn(place, named));
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => {
      // A value under a URL key belongs to that URL; the word `token` in the URL does not make the value a secret.
      if (place === 'open' && isAddress(key)) return [shownAddress(key), shown(value, place)];
      if (!VALUE.test(key)) {
        // The keys next to a name are field names of the document, not variables.
        const around = place === 'environment' && named !== undefined ? 'open' : place;
        return [key, shownMember(key, value, { place: around, isNamed: 'value' in object })];
      }
      if (isOfSecret) return [key, shown(value, 'closed', named)];
      // `{ name: '-e', value: 'TOKEN=…' }` is part of a command line.
      if (place === 'command') return [key, shownElement(value, named, { place })];
      return [key, shownMember(key, value, { place, isNamed: true })];
    }),
  );
}

function shownMember(key: string, value: unknown, { place, isNamed }: { place: Place; isNamed: boolean }): unknown {
  if (place === 'closed') {
    // A `key` without a value next to it is not a name.
    const isDescription = DESCRIPTION.test(key) && (key !== 'key' || isNamed);
    return shown(value, isDescription ? 'open' : 'closed', key);
  }
  if (isSecretIn(place, key) || (CLOSED.test(key) && typeof value === 'object')) return shown(value, 'closed', key);
  if (ENVIRONMENT.test(key)) return shown(value, 'environment');
  return shown(value, COMMAND.test(key) ? 'command' : 'open');
}

function isSecretIn(place: Place, name: string): boolean {
  return place === 'environment' ? isSecretVariable(name) : isSecretKey(name);
}
