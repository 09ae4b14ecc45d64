// Names, slugs, texts and addresses as gateways take and compare them.

const LONGEST_NAME = 255;
const LONGEST_TOOL_NAME = 128;
const LONGEST_TEXT = 1000;
const NO_NAME = 'unnamed';

/** What a gateway takes as the name of a server, a resource or a prompt: `io.github.owner/thing` has a sign it refuses. */
export function acceptableName(name: string): string {
  const plain = withoutAccents(name).replace(/[^a-zA-Z0-9_.\- ]+/g, '-');
  return named(plain.slice(0, LONGEST_NAME).replace(/^[-. ]+|[-. ]+$/g, ''));
}

export function acceptableToolName(name: string): string {
  const plain = withoutAccents(name).replace(/[^a-zA-Z0-9._/-]+/g, '-');
  return named(plain.replace(/^[^a-zA-Z0-9_]+/, '').slice(0, LONGEST_TOOL_NAME));
}

/** The name with something that tells it from others, however long it is. */
export function markedName(name: string, mark: string): string {
  const suffix = acceptableName(mark).slice(0, LONGEST_NAME / 2);
  return acceptableName(`${name.slice(0, LONGEST_NAME - suffix.length - 1)}-${suffix}`);
}

/** Descriptions without the signs that some gateway or other takes for an attack, and refuses without saying so. */
export function acceptableText(text: string): string {
  return text
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&&', ' and ')
    .replaceAll('||', ' or ')
    .replace(/\$+\(/g, '(')
    .replace(/[<>|]/g, ' ')
    .replaceAll(';', ',')
    .replace(/\s+/g, ' ')
    .slice(0, LONGEST_TEXT)
    .toWellFormed()
    .trim();
}

/** How gateways tell names apart. */
export function slugOf(name: string): string {
  return withoutAccents(name)
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** Gateways take 127.0.0.1 and localhost for the same. */
export function comparableUrl(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  if (parsed.hostname === '127.0.0.1') parsed.hostname = 'localhost';
  return parsed.href;
}

function withoutAccents(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '');
}

/** A name without a letter or digit has an empty slug. */
function named(name: string): string {
  return /[a-zA-Z0-9]/.test(name) ? name : NO_NAME;
}
