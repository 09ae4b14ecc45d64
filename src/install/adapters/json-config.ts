// The JSON configuration of a client. Everything except the entry is left unchanged, including comments.
import * as jsonc from 'jsonc-parser';
import { asObjects, isJsonObject, type JsonObject, own, parseJson } from '../../lib/json.ts';
import { isSameJson } from '../../lib/json-digest.ts';
import type { ConfigEntry, ConfigFormat } from './adapter-template.ts';

export const jsonConfig: ConfigFormat = { find, put, remove, addInputs };

function find(text: string, { format, section, name }: Omit<ConfigEntry, 'entry'>): unknown {
  return own(sectionIn(read(text, format), section), name);
}

function put(text: string, wanted: ConfigEntry): string {
  const { section, name, entry } = wanted;
  const names = Object.keys(sectionIn(read(text, wanted.format), section));
  const edited = set(text, [section, name], entry, indexFor(name, names, text));
  if (!isSameJson(find(edited, wanted), entry))
    throw new RangeError(`'${section}' or '${name}' occurs twice in it, and programs differ about which one applies`);
  return edited;
}

function remove(text: string, { format, section, name, entry }: ConfigEntry): string {
  const removed = cut(text, [section, name]);
  const ids = [...JSON.stringify(entry).matchAll(/\$\{input:([^{}]+)\}/g)].map(([, id]) => id);
  // Other entries may use the same inputs.
  const isUnused = (id: unknown) => ids.includes(String(id)) && !removed.includes(`\${input:${id}}`);
  const inputs = asObjects(read(removed, format).inputs);
  if (inputs.length > 0 && inputs.every(({ id }) => isUnused(id))) return cut(removed, ['inputs']);
  // Removed from the end, so that the remaining indexes stay valid.
  return inputs.reduceRight((text, { id }, index) => (isUnused(id) ? cut(text, ['inputs', index]) : text), removed);
}

function addInputs(text: string, inputs: readonly JsonObject[]): string {
  const existing = read(text, 'json with comments').inputs ?? [];
  if (inputs.length > 0 && !Array.isArray(existing)) throw new RangeError("'inputs' in it is not a list");
  const isAsked = ({ id }: JsonObject) => asObjects(existing).some((each) => each.id === id);
  const missing = inputs.filter((each) => !isAsked(each));
  if (asObjects(existing).length === 0 && missing.length > 0) return set(text, ['inputs'], missing);
  const ids = asObjects(existing).map(({ id }) => String(id));
  const index = indexFor(String(missing[0]?.id), ids, text);
  return missing.reduceRight((edited, each) => set(edited, ['inputs', index], each), text);
}

/** Sorted by name, independent of the order of installs. In hand-formatted files, entries go first, so that comments stay in place. */
function indexFor(name: string, names: readonly string[], text: string): number {
  const isPlain = text === `${JSON.stringify(parseJson(text), null, 2)}\n`;
  return isPlain ? names.filter((each) => each < name).length : 0;
}

function set(text: string, path: jsonc.JSONPath, value: unknown, index = 0): string {
  const content = text.trim() === '' ? '{}\n' : text;
  const { indent, eol } = layoutOf(content);
  const formattingOptions = { insertSpaces: !indent.startsWith('\t'), tabSize: indent.length, eol };
  const isArrayInsertion = typeof path.at(-1) === 'number';
  const options = { formattingOptions, isArrayInsertion, getInsertionIndex: () => index };
  return jsonc.applyEdits(content, jsonc.modify(content, path, value, options));
}

function layoutOf(text: string): { indent: string; eol: string } {
  const [, indent = '  '] = /^([ \t]+)"/m.exec(text) ?? [];
  return { indent, eol: text.includes('\r\n') ? '\r\n' : '\n' };
}

/** Removes a member or a list element, and its comma. The library would also remove adjacent comments. */
function cut(text: string, path: jsonc.JSONPath): string {
  const root = jsonc.parseTree(text, [], { allowTrailingComma: true });
  const value = root && jsonc.findNodeAtLocation(root, path);
  if (!value) return text;
  const member = value.parent?.type === 'property' ? value.parent : value;
  const [before, after] = [text.slice(0, member.offset), text.slice(member.offset + member.length)];
  const [comma] = /^\s*,[ \t]*(\r?\n\s*)?/.exec(after) ?? [];
  if (comma !== undefined) return before + after.slice(comma.length);
  const siblings = member.parent?.children ?? [];
  const previous = siblings[siblings.indexOf(member) - 1];
  const end = previous ? previous.offset + previous.length : before.length;
  const rest = (before.slice(0, end) + before.slice(end).replace(',', '')).trimEnd();
  // The text that follows must not become part of a comment.
  return `${rest}${/\/\/.*$/.test(rest) && !/^\s*\n/.test(after) ? '\n' : ''}${after}`;
}

function read(text: string, format: ConfigEntry['format']): JsonObject {
  const allowsComments = format === 'json with comments';
  const errors: jsonc.ParseError[] = [];
  const content = text.trim() === '' ? '{}' : text;
  const options = { disallowComments: !allowsComments, allowTrailingComma: allowsComments };
  const tree = jsonc.parseTree(content, errors, options);
  const wanted = allowsComments ? 'JSON' : 'plain JSON; its client does not accept comments';
  if (!tree || errors.length > 0) throw new RangeError(`it is not ${wanted}`);
  const document: unknown = jsonc.getNodeValue(tree);
  if (!isJsonObject(document)) throw new RangeError('it is not a JSON object');
  return document;
}

function sectionIn(document: JsonObject, name: string): JsonObject {
  const section = own(document, name);
  if (section === undefined) return {};
  if (!isJsonObject(section)) throw new RangeError(`'${name}' in it is not an object`);
  return section;
}
