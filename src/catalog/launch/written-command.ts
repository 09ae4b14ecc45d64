// Turns the command of a registration into one that can be started.
import { fillGaps, type GappedText } from '../../lib/secrets/secret-address.ts';
import type { Launch, Variable } from './launch-form.ts';
import { plainText, type RunnerName, runPackage, splitWords } from './package-runner.ts';

const MOST_ARGS = 200;
const NPM_REFERENCE = /^(@[\w.~-]+\/)?[\w.~-]+(@[^\s/:]+)?$/;
/** A bare name may be a script of the user: only with a version is it certainly a package. */
const NPM_PINNED = /^(@[\w.~-]+\/)?[\w.~-]+@[^\s/:]+$/;
const PYTHON_REFERENCE = /^[\w.-]+(\[[\w.,-]*\])?([=@<>~!]=?[\w.,<>=!~*+-]+)?$/;
const PYTHON_PINNED = /^[\w.-]+==[\w.+!-]+$/;
const IMAGE_REFERENCE = /^[a-z0-9][\w.:/@-]*$/i;
const OTHER_CONTAINER_COMMAND =
  /^(exec|compose|start|attach|mcp|model|buildx?|container|image|volume|network|stack|swarm|context|desktop|pull|create|ai|extension)$/;

/** Undefined for an empty command. */
export function launchCommand(written: readonly GappedText[], env: Variable[]): Launch | undefined {
  const [first, ...others] = inWords(written).slice(0, MOST_ARGS + 1);
  // Gaps in the program name cannot be filled; they are only displayed.
  const command = first && fillGaps(first, () => '***');
  if (!command) return undefined;
  const launched = packageLaunch(programName(command), others, env);
  return launched ?? { kind: 'command', command, args: others, env };
}

/** Some put the whole command line into the program name: `npx -y x`. */
function inWords([first, ...others]: readonly GappedText[]): GappedText[] {
  if (!first) return [];
  const line = plainText(first).trim().split(/\s+/);
  const isLine =
    first.length === 1 && line.length > 1 && /^(npx|bunx|uvx|uv|node|python3?|docker|podman)$/.test(line[0] ?? '');
  return isLine ? [...line.map((word) => [word]), ...others] : [first, ...others];
}

function programName(command: string): string {
  const last = command.split(/[/\\]/).at(-1) ?? '';
  return last.toLowerCase().replace(/\.(cmd|exe)$/, '');
}

function packageLaunch(program: string, words: readonly GappedText[], env: Variable[]): Launch | undefined {
  const [first, second] = words.map(plainText);
  switch (program) {
    case 'npx':
      return fetched('npx', words, env);
    case 'bunx':
      return fetched('bunx', words, env);
    case 'bun':
      if (first === 'x') return fetched('bunx', words.slice(1), env);
      return NPM_PINNED.test(first ?? '') ? fetched('bunx', words, env) : undefined;
    case 'node':
      return NPM_PINNED.test(first ?? '') ? fetched('npx', words, env) : undefined;
    case 'uvx':
      return fetched('uvx', words, env);
    case 'uv':
      return first === 'tool' && second === 'run' ? fetched('uvx', words.slice(2), env) : undefined;
    case 'python':
    case 'python3':
      return PYTHON_PINNED.test(first ?? '') ? fetched('uvx', words, env) : undefined;
    case 'docker':
    case 'podman':
      return container(program, words, env);
    default:
      return undefined;
  }
}

/** Undefined when it does not run a registry package, but a folder, a repository or an address. */
function fetched(runner: RunnerName, words: readonly GappedText[], env: Variable[]): Launch | undefined {
  const { own, from, rest } = splitWords(words, runner, { isWritten: true });
  const [named, ...others] = rest;
  const reference = from ?? named;
  const form = runner === 'uvx' ? PYTHON_REFERENCE : NPM_REFERENCE;
  if (!reference || !named || reference.length > 1 || !form.test(plainText(reference))) return undefined;
  const program = from ? plainText(named) : undefined;
  return runPackage({ runner, own, reference: plainText(reference), program, args: others, env });
}

/** Accepts `docker image` without `run`. */
function container(runner: 'docker' | 'podman', words: readonly GappedText[], env: Variable[]): Launch | undefined {
  const [first] = words.map(plainText);
  if (OTHER_CONTAINER_COMMAND.test(first ?? '')) return undefined;
  const { own, rest } = splitWords(first === 'run' ? words.slice(1) : words, runner, { isWritten: true });
  const [image, ...args] = rest;
  if (!image || image.length > 1 || !IMAGE_REFERENCE.test(plainText(image))) return undefined;
  return runPackage({ runner, own, reference: plainText(image), args, env });
}
