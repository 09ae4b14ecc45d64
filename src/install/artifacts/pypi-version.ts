// Versions of Python packages, of which one can be written in many ways (PEP 440).
const VERSION = new RegExp(
  [
    /^v?(?:(?<epoch>\d+)!)?(?<release>\d+(?:\.\d+)*)/,
    /(?:[-_.]?(?<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?<preNumber>\d*))?/,
    /(?:-(?<bare>\d+)|[-_.]?(?<post>post|rev|r)[-_.]?(?<postNumber>\d*))?/,
    /(?:[-_.]?(?<dev>dev)[-_.]?(?<devNumber>\d*))?/,
    /(?:\+(?<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?$/,
  ]
    .map(({ source }) => source)
    .join(''),
  'i',
);

const PRE: Record<string, string> = { alpha: 'a', beta: 'b', c: 'rc', pre: 'rc', preview: 'rc' };

/** As installers of today write it: one of them tells versions like this, another as their packages have them. What is none stays as it is. */
export function normalVersion(written: string): string {
  const parts = VERSION.exec(written.trim().toLowerCase())?.groups;
  if (!parts) return written;
  const { epoch, release = '', pre, preNumber, bare, post, postNumber, dev, devNumber, local } = parts;
  return [
    Number(epoch ?? 0) > 0 ? `${number(epoch)}!` : '',
    release.split('.').map(number).join('.'),
    pre ? `${PRE[pre] ?? pre}${number(preNumber)}` : '',
    bare || post ? `.post${number(bare ?? postNumber)}` : '',
    dev ? `.dev${number(devNumber)}` : '',
    local ? `+${local.split(/[-_.]/).map(localPart).join('.')}` : '',
  ].join('');
}

/** Whether a version is the one that `==` asks for: zeros at the end count for nothing, nor a local part that it does not name. */
export function isVersion(version: string, wanted: string): boolean {
  const [found, expected] = [comparable(version), comparable(wanted)];
  return found === expected || found.split('+')[0] === expected;
}

function comparable(version: string): string {
  const [, release, rest] = /^((?:\d+!)?\d+(?:\.\d+)*)(.*)$/.exec(normalVersion(version)) ?? [];
  return release === undefined ? version : `${release.replace(/(?:\.0)+$/, '')}${rest}`;
}

function number(digits: string | undefined): string {
  return (digits ?? '').replace(/^0+(?=\d)/, '') || '0';
}

function localPart(part: string): string {
  return /^\d+$/.test(part) ? number(part) : part;
}
