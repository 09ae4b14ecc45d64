// Edits of a JSON file that people write too. Everything but the edited member stays as it is written, comments included.
import { findNodeAtLocation, getNodeValue, type Node, type ParseError, parseTree } from 'jsonc-parser';
import type { ClientInput } from '../../catalog/client-config.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';

const BYTE_ORDER_MARK = '\uFEFF';

export interface JsonSyntax {
  /** Whether the client accepts comments and trailing commas. */
  allowsComments: boolean;
}

/** @throws RangeError when it is not a JSON object, or when a key is in it twice, so that readers may differ. */
export function readJson(text: string, { allowsComments }: JsonSyntax): JsonObject {
  const errors: ParseError[] = [];
  const options = { disallowComments: !allowsComments, allowTrailingComma: allowsComments };
  const tree = parseTree(contentOf(text), errors, options);
  if (!tree || errors.length > 0)
    throw new RangeError(allowsComments ? 'it is not JSON, not even with comments' : 'it is not plain JSON');
  assertUniqueKeys(tree);
  const document: unknown = getNodeValue(tree);
  if (!isJsonObject(document)) throw new RangeError('it is not a JSON object');
  return document;
}

function assertUniqueKeys({ type, children = [] }: Node): void {
  const seen = new Set<unknown>();
  for (const child of children) {
    const key = type === 'object' ? child.children?.[0]?.value : undefined;
    if (key !== undefined && seen.has(key)) throw new RangeError(`'${key}' is in it twice`);
    seen.add(key);
    assertUniqueKeys(child);
  }
}

/** Replaces the member of the section, or adds it before the others: comments then stay beside the member they belong to. */
export function setMember(text: string, section: string, { name, value }: { name: string; value: unknown }): string {
  return edit(text, (content, root) => {
    const existing = findNodeAtLocation(root, [section, name]);
    if (existing) return replace(content, existing, layOut(value, content, 2));
    const parent = findNodeAtLocation(root, [section]);
    if (parent?.type === 'object') return insertFirst(content, parent, { key: name, value, depth: 2 });
    const whole = { [name]: value };
    return parent
      ? replace(content, parent, layOut(whole, content, 1))
      : insertFirst(content, root, { key: section, value: whole, depth: 1 });
  });
}

export function removeMember(text: string, section: string, name: string): string {
  return edit(text, (content, root) => {
    const member = findNodeAtLocation(root, [section, name])?.parent;
    return member ? removeChild(content, member) : content;
  });
}

/** Adds the questions that the client does not ask yet. @throws RangeError when the file has something else there. */
export function addInputs(text: string, inputs: readonly ClientInput[]): string {
  return inputs.reduceRight((changed, input) => {
    return edit(changed, (content, root) => {
      const list = findNodeAtLocation(root, ['inputs']);
      if (!list) return insertFirst(content, root, { key: 'inputs', value: [input], depth: 1 });
      if (list.type !== 'array') throw new RangeError("'inputs' in it is not a list");
      return inputWith(list, input.id) ? content : insertFirst(content, list, { value: input, depth: 2 });
    });
  }, text);
}

/** Removes the questions of an entry that is gone, unless another entry needs their answers. */
export function removeInputs(text: string, entry: JsonObject): string {
  const ids = [...JSON.stringify(entry).matchAll(/\$\{input:([^{}]+)\}/g)].map(([, id = '']) => id);
  return ids.reduce((changed, id) => {
    return edit(changed, (content, root) => {
      const list = findNodeAtLocation(root, ['inputs']);
      const input = list && inputWith(list, id);
      if (!list?.parent || !input || content.includes(`\${input:${id}}`)) return content;
      return removeChild(content, list.children?.length === 1 ? list.parent : input);
    });
  }, text);
}

function inputWith({ children = [] }: Node, id: string): Node | undefined {
  return children.find((each) => findNodeAtLocation(each, ['id'])?.value === id);
}

function edit(text: string, change: (content: string, root: Node) => string): string {
  const content = contentOf(text);
  const root = parseTree(content, [], { allowTrailingComma: true });
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  return root ? mark + change(content, root) : text;
}

function contentOf(text: string): string {
  const content = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  return content.trim() === '' ? '{}\n' : content;
}

function replace(content: string, { offset, length }: Pick<Node, 'offset' | 'length'>, by: string): string {
  return content.slice(0, offset) + by + content.slice(offset + length);
}

interface NewChild {
  /** Of a member; elements of lists have none. */
  key?: string;
  value: unknown;
  depth: number;
}

function insertFirst(content: string, parent: Node, { key, value, depth }: NewChild): string {
  const named = key === undefined ? '' : `${JSON.stringify(key)}: `;
  const child = `${lineAt(depth, content)}${named}${layOut(value, content, depth)}`;
  if (parent.children?.length) return replace(content, { offset: parent.offset + 1, length: 0 }, `${child},`);
  const inner = content.slice(parent.offset + 1, parent.offset + parent.length - 1);
  const length = inner.trim() === '' ? inner.length : 0;
  return replace(content, { offset: parent.offset + 1, length }, `${child}${lineAt(depth - 1, content)}`);
}

/** With its comma and the space before it. Of the last child, the comma is the one behind the child before it. */
function removeChild(content: string, child: Node): string {
  const siblings = child.parent?.children ?? [];
  const previous = siblings[siblings.indexOf(child) - 1];
  const before = content.slice(0, child.offset);
  const after = content.slice(child.offset + child.length);
  const rest = after.replace(/^\s*,/, '');
  const isAlone = /[{[]$/.test(before.trimEnd()) && /^\s*[}\]]/.test(rest);
  if (isAlone) return before.trimEnd() + rest.trimStart();
  // A comment stays in its line, and does not swallow what follows.
  const isJoinable = /^[ \t]*\r?\n/.test(rest) || (/[{[,]$/.test(before.trimEnd()) && !/^[ \t]*\//.test(rest));
  const [kept, follows] = isJoinable ? [before.trimEnd(), rest] : [before, rest.replace(/^[ \t]+/, '')];
  if (rest !== after || !previous) return kept + follows;
  const end = previous.offset + previous.length;
  return kept.slice(0, end) + kept.slice(end).replace(/^\s*,/, '') + follows;
}

function layOut(value: unknown, content: string, depth: number): string {
  return JSON.stringify(value, null, indentOf(content)).replaceAll('\n', lineAt(depth, content));
}

function lineAt(depth: number, content: string): string {
  return (content.includes('\r\n') ? '\r\n' : '\n') + indentOf(content).repeat(depth);
}

function indentOf(content: string): string {
  return /^([ \t]+)"/m.exec(content)?.[1] ?? '  ';
}
