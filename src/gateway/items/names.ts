// Names, slugs, texts and addresses as gateways accept and compare them.

const LONGEST_NAME = 255;
const LONGEST_TOOL_NAME = 128;
const LONGEST_TEXT = 1000;
/** Untrusted texts are truncated before anything else; characters that are then removed may leave room for more. */
const LONGEST_INPUT = 8 * LONGEST_TEXT;
const NO_NAME = 'unnamed';

/** What a gateway accepts as the name of a server, a resource or a prompt: `io.github.owner/thing` has a character it refuses. */
export function acceptableName(name: string): string {
  const plain = withoutAccents(name).replace(/[^a-zA-Z0-9_.\- ]+/g, '-');
  return named(plain.slice(0, LONGEST_NAME).replace(/^[-. ]+|[-. ]+$/g, ''));
}

export function acceptableToolName(name: string): string {
  const plain = withoutAccents(name).replace(/[^a-zA-Z0-9._/-]+/g, '-');
  return named(plain.replace(/^[^a-zA-Z0-9_]+/, '').slice(0, LONGEST_TOOL_NAME));
}

/** The name with a suffix that distinguishes it, within the longest name that gateways accept. */
export function markedName(name: string, mark: string): string {
  const suffix = acceptableName(mark).slice(0, LONGEST_NAME / 2);
  return acceptableName(`${name.slice(0, LONGEST_NAME - suffix.length - 1)}-${suffix}`);
}

/**
 * A description without the characters that some gateways take for an attack and refuse without a reason. Every pattern
 * here is linear: texts come from strangers, and one that can match from many starts to the end freezes the hub.
 */
export function acceptableText(text: string): string {
  return withoutTags(text.slice(0, LONGEST_INPUT))
    .replaceAll('&&', ' and ')
    .replaceAll('||', ' or ')
    .replaceAll('$(', '$ (')
    .replace(/[<>|]/g, ' ')
    .replaceAll(';', ',')
    .replace(/\s+/g, ' ')
    .slice(0, LONGEST_TEXT)
    .toWellFormed()
    .trim();
}

/** Each `<` is followed up to the next `<` only, so that no text takes more than one pass. */
export function withoutTags(text: string): string {
  return text.replace(/<[^<>]*>/g, ' ');
}

/** How gateways compare names. */
export function slugOf(name: string): string {
  return withoutAccents(name)
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** To gateways, 127.0.0.1 and localhost are the same. */
export function comparableUrl(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  if (parsed.hostname === '127.0.0.1') parsed.hostname = 'localhost';
  return parsed.href;
}

function withoutAccents(text: string): string {
  return text.slice(0, LONGEST_INPUT).normalize('NFKD').replace(/\p{M}/gu, '');
}

/** A name without a letter or digit has an empty slug. */
function named(name: string): string {
  return /[a-zA-Z0-9]/.test(name) ? name : NO_NAME;
}
