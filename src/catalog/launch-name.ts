// The names that an entity and its variables go by where it is used. Needs nothing of Node: the page uses it too.

export interface Named {
  name: string;
  slug: string;
}

const LONGEST_VARIABLE = 120;
const LONGEST_ENTRY = 80;

/** `io.github.owner/thing` is called `thing`. */
export function shortName({ name, slug }: Named): string {
  return name.split('/').findLast((part) => /[A-Za-z0-9]/.test(part)) ?? slug;
}

/** The name of the server in the configuration of a client. */
export function entryName(named: Named): string {
  const plain = shortName(named)
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9_-]+/g, '-');
  return plain.slice(0, LONGEST_ENTRY).replace(/^[-_]+|[-_]+$/g, '') || 'server';
}

/**
 * The environment variable for a header, an argument or a part of an address. Not the bare name: a manifest that calls a
 * header `AWS-Secret-Access-Key` must not be sent what its user has under that name.
 */
export function variableFor(name: string, named: Named): string {
  return [name, 'for', shortName(named)]
    .map((part) => part.replace(/[^A-Za-z0-9]+/g, '_'))
    .join('_')
    .toUpperCase()
    .replace(/^_+|_+$/g, '')
    .replace(/^(?=\d)/, '_')
    .slice(0, LONGEST_VARIABLE);
}
