// Names, slugs, texts and addresses in the form that gateways accept and compare.

const LONGEST_NAME = 255;
const LONGEST_TOOL_NAME = 128;
const LONGEST_TEXT = 1000;
/** Untrusted texts are truncated first; some extra length allows for characters that are removed later. */
const LONGEST_INPUT = 8 * LONGEST_TEXT;
const NO_NAME = 'unnamed';

/** A valid name for a server, resource or prompt: gateways reject the slash in `io.github.owner/thing`. */
export function acceptableName(name: string): string {
  const plain = withoutAccents(name).replace(/[^a-zA-Z0-9_.\- ]+/g, '-');
  return named(plain.slice(0, LONGEST_NAME).replace(/^[-. ]+|[-. ]+$/g, ''));
}

export function acceptableToolName(name: string): string {
  const plain = withoutAccents(name).replace(/[^a-zA-Z0-9._/-]+/g, '-');
  return named(plain.replace(/^[^a-zA-Z0-9_]+/, '').slice(0, LONGEST_TOOL_NAME));
}

/** Adds a distinguishing suffix, within the maximum length of names. */
export function markedName(name: string, mark: string): string {
  const suffix = acceptableName(mark).slice(0, LONGEST_NAME / 2);
  return acceptableName(`${name.slice(0, LONGEST_NAME - suffix.length - 1)}-${suffix}`);
}

/**
 * Removes characters from a description that some gateways mistake for an attack and reject without a reason. All patterns
 * are linear, because untrusted texts could otherwise freeze the hub.
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

/** Each match ends before the next `<`, so that the scan is linear. */
export function withoutTags(text: string): string {
  return text.replace(/<[^<>]*>/g, ' ');
}

/** The form in which gateways compare names. */
export function slugOf(name: string): string {
  return withoutAccents(name)
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** Gateways treat 127.0.0.1 and localhost as the same. */
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
