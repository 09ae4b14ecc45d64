// Turns the command of a registration into one that can be started.
import { fillGaps, type GappedText } from '../../lib/secrets/secret-address.ts';
import type { Launch, LaunchedPackage, Variable } from './launch-form.ts';
import { packageName, plainText, type RunnerName, runPackage, splitWords } from './package-runner.ts';

const MOST_ARGS = 200;
const NPM_REFERENCE = /^(@[\w.~-]+\/)?[\w.~-]+(@[^\s/:]+)?$/;
/** A bare name may be a script of the user: only with a version is it certainly a package. */
const NPM_PINNED = /^(@[\w.~-]+\/)?[\w.~-]+@[^\s/:]+$/;
const PYTHON_REFERENCE = /^[\w.-]+(\[[\w.,-]*\])?([=@<>~!]=?[\w.,<>=!~*+-]+)?$/;
const PYTHON_PINNED = /^[\w.-]+==[\w.+!-]+$/;
const IMAGE_REFERENCE = /^[a-z0-9][\w.:/@-]*$/i;

/** Some runners accept `pkg>=1.0,other`. */
const SEVERAL = /,[a-z]/i;
const REFERENCES = { npm: NPM_REFERENCE, pypi: PYTHON_REFERENCE, oci: IMAGE_REFERENCE };

/** Undefined for an empty command. */
export function launchCommand(written: readonly GappedText[], env: Variable[]): Launch | undefined {
  const [first, ...others] = written.slice(0, MOST_ARGS + 1);
  // Gaps in the program name cannot be filled; they are only displayed.
  const command = first && fillGaps(first, () => '***');
  if (!command) return undefined;
  return packageLaunch(command, others, env) ?? { kind: 'command', command, args: others, env };
}

/** Commands that fetch the program they start, and shells, whose command line may start such a command. */
const FETCHES =
  /^(?:(?:npx|pnpx|bunx|uvx|pipx|docker|podman|nerdctl|dnx|cmd|powershell|pwsh|env|sudo) |(?:npm|pnpm|yarn|bun) (?:\S+ )*?(?:exec|x|dlx|create|init) |uv (?:\S+ )*?(?:tool|--with\S*) |(?:uv|deno|bun) .*?(?:npm|jsr|git\+\w+|https?):|dotnet tool |go run .*?@|(?:ba|da|z)?sh (?:-\w+ )*?-\w*c )/s;

interface FetchedPackage {
  kind: LaunchedPackage['kind'] | 'command';
  name: string;
}

/** The packages that a command fetches; one that cannot be determined has the name of the command. Arguments may contain secrets. */
export function fetchedPackages(launch: Extract<Launch, { kind: 'command' }>): FetchedPackage[] {
  const unknown: FetchedPackage = { kind: 'command', name: launch.command };
  if (!launch.package) return fetchesUnknown(launch) ? [unknown] : [];
  const { kind, name, extra = [] } = launch.package;
  const further = extra.map((reference) => {
    const isOne = REFERENCES[kind].test(reference) && !SEVERAL.test(reference);
    return isOne ? { kind, name: packageName(reference, kind) } : unknown;
  });
  return [{ kind, name }, ...further];
}

function fetchesUnknown(launch: Extract<Launch, { kind: 'command' }>): boolean {
  const words = [...launch.args.map(plainText), ''].join(' ');
  // Some catalogs write the whole line as the command.
  return [programName(launch.command), launch.command].some((program) => FETCHES.test(`${program} ${words}`));
}

/** `npx` for `/usr/bin/npx` and `npx.cmd`. */
function programName(command: string): string {
  const name = command.slice(Math.max(command.lastIndexOf('/'), command.lastIndexOf('\\')) + 1);
  return name.toLowerCase().replace(/\.(cmd|exe|bat|ps1)$/, '');
}

function packageLaunch(command: string, words: readonly GappedText[], env: Variable[]): Launch | undefined {
  const [first = '', second] = words.map(plainText);
  const program = programName(command);
  switch (program) {
    case 'npx':
    case 'uvx':
      return fetched(program, words, env);
    case 'uv':
      return first === 'tool' && second === 'run' ? fetched('uvx', words.slice(2), env) : undefined;
    // Some catalogs write the runtime and the package: `node pkg@1.0.0`, `python pkg==1.0.0`.
    case 'node':
      return NPM_PINNED.test(first) ? fetched('npx', words, env) : undefined;
    case 'python':
    case 'python3':
      return PYTHON_PINNED.test(first) ? fetched('uvx', words, env) : undefined;
    case 'docker':
    case 'podman':
      return container(program, words, env);
    default:
      return undefined;
  }
}

/** Undefined when it does not run a registry package, but a folder, a repository or an address. */
function fetched(runner: RunnerName, words: readonly GappedText[], env: Variable[]): Launch | undefined {
  const { own, from, rest, isUnclear } = splitWords(words, runner, { isWritten: true });
  const [named, ...others] = rest;
  const reference = from ?? named;
  const form = runner === 'uvx' ? PYTHON_REFERENCE : NPM_REFERENCE;
  if (isUnclear || !reference || !named || reference.length > 1 || !form.test(plainText(reference))) return undefined;
  const program = from ? plainText(named) : undefined;
  return runPackage({ runner, own, reference: plainText(reference), program, args: others, env });
}

/** Accepts `docker owner/image` without `run`. */
function container(runner: 'docker' | 'podman', words: readonly GappedText[], env: Variable[]): Launch | undefined {
  const first = plainText(words[0]);
  if (first !== 'run' && !/[/:]/.test(first)) return undefined;
  const options = first === 'run' ? words.slice(1) : words;
  const { own, rest, isUnclear } = splitWords(options, runner, { isWritten: true });
  const [image, ...args] = rest;
  if (isUnclear || !image || image.length > 1 || !IMAGE_REFERENCE.test(plainText(image))) return undefined;
  return runPackage({ runner, own, reference: plainText(image), args, env });
}
