// What the errors of uv and pip mean.
import type { RunResult } from '../../../lib/world.ts';
import { InstallError } from '../../errors.ts';
import { type Causes, findCause, HELD_BACK, outputEnd, withHostsOnly } from '../program.ts';

const NEEDS_BUILD = /building from source is disabled|building source distributions is disabled|has no usable wheels/i;

/** uv wraps its lines. */
const flat = ({ stdout, stderr }: RunResult) => `${stdout}\n${stderr}`.replaceAll(/[\s│╰─▶]+/g, ' ');

/** Whether uv failed because a package has no wheel. */
export function needsBuild(result: RunResult): boolean {
  return NEEDS_BUILD.test(flat(result));
}

const NO_BUILDS =
  'Packages are not built here, because that runs their code. On your own machine, --allow-build builds them.';

const CAUSES: Causes = [
  [HELD_BACK, () => 'The package index leads to an address that the hub may not connect to.'],
  [
    /DO NOT MATCH THE HASHES|Hash mismatch/i,
    () => 'The package index sent other bytes than expected: the digest differs.',
  ],
  [
    /401 Unauthorized|403 Forbidden|401 Error|403 Error|Unauthorized for url/i,
    () => 'The package index refused access: it may require a login.',
  ],
  // Before missing versions: for pip, an index that does not answer has no versions either.
  [
    /Connection refused|Name or service not known|Temporary failure|NewConnectionError|Failed to fetch|dns error|timed out/i,
    () => 'The package index could not be reached.',
  ],
  [NEEDS_BUILD, () => `A package has no wheel for this Python and platform. ${NO_BUILDS}`],
  [/Because (\S+) was not found in the package registry/, ([, name]) => `The package index has no package '${name}'.`],
  [/Because there is no version of (\S+)/, ([, wanted]) => `The package index has no version ${wanted}.`],
  [
    /No matching distribution found for ([^\s(]+)|Could not find a version that satisfies the requirement ([^\s(]+)/i,
    ([, wanted, alsoWanted]) =>
      `The package index has no ${wanted ?? alsoWanted} as a wheel for this Python and platform. ${NO_BUILDS}`,
  ],
  [
    /URL dependencies must be expressed/,
    () => 'A package is required by its address and not by its name, which is not installed.',
  ],
  [
    /ResolutionImpossible|conflicting dependencies|No solution found/i,
    () => 'The packages that it needs cannot be installed together, or do not support this Python.',
  ],
];

export function pythonError(tool: string, result: RunResult, { isOwnIndex }: { isOwnIndex: boolean }): InstallError {
  const said = `${result.stdout}\n${result.stderr}`;
  // The address of the operator's index may contain a token.
  const output = outputEnd(isOwnIndex ? withHostsOnly(said) : said);
  const lastLine = output.split('\n').findLast((line) => line.trim() !== '') ?? 'it gave no reason';
  const message = findCause(flat(result), CAUSES) ?? `${tool} failed: ${lastLine.trim().slice(0, 300)}.`;
  return new InstallError(message, { extra: { output } });
}
