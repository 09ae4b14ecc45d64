// The text of a JSON file that people write too: changed only where something in it is to be another.
import { applyEdits, createScanner, getNodeValue, modify, type Node, type ParseError, parseTree } from 'jsonc-parser';
import type { ClientInput } from '../../catalog/client-config.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { jsonDigest } from '../../lib/json-digest.ts';

type Path = readonly string[];

/** Parsed in place, several times: people write a few kilobytes. */
const LONGEST_TEXT = 1_000_000;
/** The text is parsed again for each: above these, all of the entry is written anew, comments inside of it included. */
const MOST_STEPS = 20;
const BYTE_ORDER_MARK = '\uFEFF';

export interface ConfigFormat {
  /** Whether whoever reads the file takes comments and commas behind the last of a list. */
  allowsComments: boolean;
}

/** @throws RangeError when it cannot be read as that; what is in it is then not known. */
export function readConfig(text: string, { allowsComments }: ConfigFormat): JsonObject {
  const content = withoutMark(text);
  if (content.length > LONGEST_TEXT) throw new RangeError(`it has more than ${LONGEST_TEXT} characters`);
  if (content.trim() === '') return {};
  const document = allowsComments ? readWithComments(content) : readPlain(content);
  if (!isJsonObject(document)) throw new RangeError('it is no JSON object');
  return document;
}

function readPlain(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch (error) {
    throw new RangeError('it is not plain JSON', { cause: error });
  }
}

function readWithComments(content: string): unknown {
  const errors: ParseError[] = [];
  const tree = treeOf(content, errors);
  if (tree && errors.length === 0) return getNodeValue(tree);
  throw new RangeError('it is not JSON, not even with comments');
}

function treeOf(content: string, errors: ParseError[] = []): Node | undefined {
  try {
    return parseTree(content, errors, { allowTrailingComma: true });
  } catch (error) {
    // The parser calls itself for everything that is inside of something.
    throw new RangeError('it is nested too deep', { cause: error });
  }
}

/**
 * The text with `after` at the path, where `before` is now. Comments, order, numbers of any length and everything beside it
 * stay as they are written. @throws RangeError when one of the names is there twice, so that readers may differ.
 */
export function changeConfig(text: string, path: Path, { before, after }: { before: unknown; after: unknown }): string {
  assertSingle(withoutMark(text), path);
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const content = withoutMark(text);
  const leaves = changes(path, before, after);
  const steps = leaves.length > MOST_STEPS ? [{ path, value: after }] : leaves;
  return mark + steps.reduce((changed, step) => changedOnce(changed, step), content.trim() === '' ? '{}\n' : content);
}

interface Change {
  path: Path;
  /** Undefined to remove what is there. */
  value: unknown;
}

function changes(path: Path, before: unknown, after: unknown): Change[] {
  if (jsonDigest(before) === jsonDigest(after)) return [];
  if (!isJsonObject(before) || !isJsonObject(after)) return [{ path, value: after }];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => changes([...path, name], own(before, name), own(after, name)));
}

function changedOnce(text: string, { path, value }: Change): string {
  if (value === undefined) return withoutMember(text, path);
  const layout = layoutOf(text);
  let node = treeOf(text);
  let depth = 0;
  for (const name of path) {
    const next = memberOf(node, name);
    if (!next) break;
    node = next;
    depth += 1;
  }
  if (!node) throw new RangeError('it is no JSON object');
  const rest = path.slice(depth);
  if (rest.length === 0)
    return text.slice(0, node.offset) + written(value, depth, layout) + text.slice(node.offset + node.length);
  const [name = '', ...inner] = rest;
  const nested = inner.reduceRight<unknown>((held, each) => ({ [each]: held }), value);
  if (node.type === 'null') {
    const object = written({ [name]: nested }, depth, layout);
    return text.slice(0, node.offset) + object + text.slice(node.offset + node.length);
  }
  const isInOneLine = node.children?.length && !text.slice(node.offset, node.offset + node.length).includes('\n');
  const member = isInOneLine
    ? ` ${JSON.stringify(name)}: ${JSON.stringify(nested)}`
    : `${indentAt(depth + 1, layout)}${JSON.stringify(name)}: ${written(nested, depth + 1, layout)}`;
  return withMember(text, node, { member, end: indentAt(depth, layout) });
}

/** Behind the last one. The parser's own edits would lay out anew what stands in the same lines. */
function withMember(
  text: string,
  { offset, length, children }: Node,
  { member, end }: { member: string; end: string },
) {
  const last = children?.at(-1);
  if (!last) {
    const isBlank = text.slice(offset + 1, offset + length - 1).trim() === '';
    const after = isBlank ? offset + length - 1 : offset + 1;
    return `${text.slice(0, offset + 1)}${member}${end}${text.slice(after)}`;
  }
  const at = last.offset + last.length;
  // A comment at the end of a line belongs to what stands before it.
  const [tail = '', comma] =
    /^([ \t]*,)?[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/[ \t]*)?(?=\r?\n)/.exec(text.slice(at)) ?? [];
  // Whoever ends the last of a list with a comma goes on doing so.
  return `${text.slice(0, at)}${comma ? '' : ','}${tail}${member}${comma ? ',' : ''}${text.slice(at + tail.length)}`;
}

/** With its comma and its line. Comments stay: the parser's own edits would take those between two members along. */
function withoutMember(text: string, path: Path): string {
  const parent = path.slice(0, -1).reduce(memberOf, treeOf(text));
  const members = parent?.children ?? [];
  const index = members.findIndex(({ children }) => children?.[0]?.value === path.at(-1));
  const member = members[index];
  if (!parent || !member) return text;
  const previous = members[index - 1];
  const ownComma = commaBehind(text, member);
  const comma = ownComma ?? (previous && commaBehind(text, previous));
  const cuts = [lineCut(text, member, { isLast: index === members.length - 1, comma: ownComma })];
  const [{ from, to }] = cuts as [Cut];
  if (comma !== undefined && !(comma >= from && comma < to)) cuts.push({ from: comma, to: comma + 1 });
  // From the end, so that places before it stay what they are.
  const cut = cuts
    .toSorted((one, other) => other.from - one.from)
    .reduce((rest, each) => rest.slice(0, each.from) + rest.slice(each.to), text);
  const end = parent.offset + parent.length - (text.length - cut.length);
  const isBlank = members.length === 1 && cut.slice(parent.offset + 1, end - 1).trim() === '';
  return isBlank ? `${cut.slice(0, parent.offset)}{}${cut.slice(end)}` : cut;
}

interface Cut {
  from: number;
  to: number;
}

/** The member with a comma right behind it, and its line when nothing else is in it. */
function lineCut(
  text: string,
  { offset, length }: Node,
  { isLast, comma }: { isLast: boolean; comma: number | undefined },
): Cut {
  const end = offset + length;
  const to = comma !== undefined && text.slice(end, comma).trim() === '' ? comma + 1 : end;
  const [before = ''] = /(?:\r?\n)?[ \t]*$/.exec(text.slice(0, offset)) ?? [];
  const [after = ''] = /^[ \t]*/.exec(text.slice(to)) ?? [];
  const startsLine = before.includes('\n');
  const endsLine = /^(\r?\n|$)/.test(text.slice(to + after.length));
  if (startsLine && endsLine) return { from: offset - before.length, to: to + after.length };
  return isLast && !startsLine ? { from: offset - before.length, to } : { from: offset, to: to + after.length };
}

function commaBehind(text: string, { offset, length }: Node): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset + length);
  scanner.scan();
  const at = scanner.getTokenOffset();
  return text[at] === ',' ? at : undefined;
}

/** Adds the questions that the client does not ask yet. */
export function addInputs(text: string, inputs: readonly ClientInput[]): string {
  return inputs.reduce((changed, input) => {
    const ids = inputIds(changed);
    if (ids.includes(input.id)) return changed;
    const at = ids.length === 0 ? ['inputs', 0] : ['inputs', -1];
    return applyEdits(changed, modify(changed, at, input, editing(changed)));
  }, text);
}

/** Removes the questions of an entry that is gone, unless another entry needs their answers. */
export function removeInputs(text: string, entry: unknown): string {
  const ids = [...JSON.stringify(entry ?? {}).matchAll(/\$\{input:([^{}]+)\}/g)].map(([, id = '']) => id);
  return ids.reduce((changed, id) => {
    const index = inputIds(changed).indexOf(id);
    if (index < 0 || changed.includes(`\${input:${id}}`)) return changed;
    const isLast = inputIds(changed).length === 1;
    return applyEdits(changed, modify(changed, isLast ? ['inputs'] : ['inputs', index], undefined, editing(changed)));
  }, text);
}

function inputIds(text: string): unknown[] {
  const inputs = memberOf(treeOf(text), 'inputs');
  return (inputs?.children ?? []).map((each) => memberOf(each, 'id')?.value);
}

function editing(text: string) {
  const { indent, lineEnd } = layoutOf(text);
  const insertSpaces = !indent.startsWith('\t');
  return { formattingOptions: { insertSpaces, tabSize: insertSpaces ? indent.length : 1, eol: lineEnd } };
}

interface Layout {
  indent: string;
  lineEnd: string;
}

function layoutOf(text: string): Layout {
  const indent = /\{[^\S\n]*\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
  return { indent, lineEnd: text.includes('\r\n') ? '\r\n' : '\n' };
}

function indentAt(depth: number, { indent, lineEnd }: Layout): string {
  return lineEnd + indent.repeat(depth);
}

function written(value: unknown, depth: number, layout: Layout): string {
  return JSON.stringify(value, null, layout.indent).replaceAll('\n', indentAt(depth, layout));
}

function memberOf(node: Node | undefined, name: string): Node | undefined {
  return node?.children?.find(({ children }) => children?.[0]?.value === name)?.children?.[1];
}

function assertSingle(content: string, path: Path): void {
  let node: Node | undefined = treeOf(content);
  for (const name of path) {
    const found: Node[] = (node?.children ?? []).filter(({ children }) => children?.[0]?.value === name);
    if (found.length > 1) throw new RangeError(`'${name}' is in it twice`);
    node = found[0]?.children?.[1];
  }
  const names = namesIn(node);
  const seen = new Set<string>();
  const twice = names.find((name) => seen.size === seen.add(name).size);
  if (twice !== undefined) throw new RangeError(`'${twice}' is in '${path.at(-1)}' twice`);
}

/** Of an object, and of those inside of it. */
function namesIn(node: Node | undefined): string[] {
  if (node?.type !== 'object') return [];
  return (node.children ?? []).flatMap(({ children: [key, value] = [] }) => [
    String(key?.value),
    ...namesIn(value).map((inner) => `${key?.value}.${inner}`),
  ]);
}

/** Names are words of strangers: `constructor` is nothing that every object has. */
export function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}
