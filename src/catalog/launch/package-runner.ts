// The programs that fetch and run packages: their options, and the commands that start a server with them.
import type { GappedText } from '../../lib/secrets/secret-address.ts';
import type { Launch, LaunchedPackage, Variable } from './launch-form.ts';

export type RunnerName = 'npx' | 'uvx' | 'docker' | 'podman';
type CommandLaunch = Extract<Launch, { kind: 'command' }>;

interface Runner {
  kind: LaunchedPackage['kind'];
  /** Options without a value. */
  switches: ReadonlySet<string>;
  /** Options with a value in the next word. */
  options: ReadonlySet<string>;
  /** Options that name the package, if the program has a different name. */
  from: readonly string[];
  /** Options that name further packages, or files that list them. */
  extra: readonly string[];
}

const words = (text: string) => new Set(text.split(' '));
const CONTAINER: Runner = {
  kind: 'oci',
  switches: words(
    '-i --interactive -t --tty -it -ti -di -dt -id -td -dit -dti -idt -itd -tdi -tid --rm -d --detach --init --privileged --read-only -P --publish-all -q --quiet --no-healthcheck --sig-proxy --oom-kill-disable',
  ),
  options: words(
    '-e --env --env-file -v --volume --mount -p --publish --expose --name --network --net --ip -u --user -w --workdir --entrypoint --platform --pull --add-host --dns --security-opt --cap-add --cap-drop --tmpfs -m --memory --cpus --gpus --device --shm-size --ulimit -l --label -h --hostname --log-driver --restart --pid --ipc --group-add --volumes-from --userns --runtime --stop-timeout',
  ),
  from: [],
  extra: [],
};
const RUNNERS: Record<RunnerName, Runner> = {
  npx: {
    kind: 'npm',
    switches: words(
      '-y --yes --no --no-install -q --quiet --silent -s --prefer-online --prefer-offline --offline --ignore-scripts --ignore-existing --legacy-peer-deps --no-audit --no-fund --no-update-notifier --foreground-scripts',
    ),
    options: words('--registry --node-options --loglevel --cache --userconfig --prefix'),
    from: ['-p', '--package'],
    extra: ['-p', '--package'],
  },
  uvx: {
    kind: 'pypi',
    switches: words(
      '--isolated -n --no-cache --refresh -U --upgrade --reinstall --offline --native-tls -q --quiet -qq --no-progress --no-config --no-env-file --no-sources --no-build-isolation --managed-python --no-managed-python --no-python-downloads --no-index --no-build --pre',
    ),
    options: words(
      '-w --with --with-editable --with-requirements --python -p --index --default-index --index-url -i --extra-index-url --find-links -f --prerelease --index-strategy --keyring-provider --resolution --link-mode --cache-dir --directory --project --config-file --exclude-newer --env-file --spec',
    ),
    from: ['--from'],
    extra: ['-w', '--with', '--with-editable', '--with-requirements'],
  },
  docker: CONTAINER,
  podman: CONTAINER,
};

export function isSwitchOf(runner: RunnerName): (name: string) => boolean {
  return (name) => RUNNERS[runner].switches.has(name);
}

export interface SplitWords {
  /** Options of the runner itself. */
  own: GappedText[];
  /** The package, if an option names it. */
  from?: GappedText;
  rest: GappedText[];
  /** Whether the package of a written command is unknown, because an option may have its value in the next word or not. */
  isUnclear: boolean;
}

/** Separates the runner's words from the program's. In a command written by a person, all words after the package are the program's. */
export function splitWords(
  all: readonly GappedText[],
  name: RunnerName,
  { isWritten }: { isWritten: boolean },
): SplitWords {
  const { kind, switches, options, from, extra } = RUNNERS[name];
  const split: SplitWords = { own: [], rest: [], isUnclear: false };
  for (let index = 0; index < all.length; index += 1) {
    const word = all[index] as GappedText;
    const [option = '', ...value] = plainText(word).split('=');
    const isAssigned = option.startsWith('-') && value.length > 0;
    const next = isAssigned ? undefined : all[index + 1];
    if ((from.includes(option) || options.has(option)) && (isAssigned || next)) {
      const isExtra = extra.includes(option) && split.from !== undefined;
      if (from.includes(option) && !isExtra) split.from = next ?? [value.join('=')];
      else split.own.push(word, ...(next ? [next] : []));
      if (next) index += 1;
    } else if (switches.has(option)) {
      split.own.push(word);
      // npm reads `--yes true` as one option, and `--yes=other` as two words.
      split.isUnclear ||= kind === 'npm' && (isAssigned || /^(true|false)$/.test(plainText(next)));
    } else if (isWritten && option === '--') return { ...split, rest: all.slice(index + 1) };
    else if (isWritten && !option.startsWith('-')) return { ...split, rest: all.slice(index) };
    else if (isWritten) {
      split.own.push(word);
      // The value of docker's `-v/a:/b` is in the same word.
      const hasValue = isAssigned || options.has(option.slice(0, 2));
      split.isUnclear ||= !hasValue || extra.includes(option.slice(0, 2));
    } else split.rest.push(word);
  }
  return split;
}

/** Empty for a word that starts with a gap. */
export function plainText(word: GappedText | undefined): string {
  return typeof word?.[0] === 'string' ? word[0] : '';
}

export interface Run {
  runner: RunnerName;
  own: readonly GappedText[];
  /** Includes the version: `pkg@1.0.0`, `pkg==1.0.0`, `image:tag`. */
  reference: string;
  program?: string | undefined;
  args: readonly GappedText[];
  env: readonly Variable[];
}

export function runPackage(run: Run): CommandLaunch {
  const { kind } = RUNNERS[run.runner];
  const name = packageName(run.reference, kind);
  const program = run.program && run.program !== name ? run.program : undefined;
  const extra = extraPackages(run);
  const started = {
    ...{ kind, name, args: [...run.args] },
    ...(program ? { program } : {}),
    ...(extra.length > 0 ? { extra } : {}),
  };
  if (kind === 'oci') return runImage(run, started);
  const before = kind === 'npm' ? npmWords(run, started) : pythonWords(run, program, name);
  return { kind: 'command', command: run.runner, args: [...before, ...run.args], env: [...run.env], package: started };
}

/** The further packages that the command installs, as written; files and folders with their option. */
function extraPackages({ runner, own }: Pick<Run, 'runner' | 'own'>): string[] {
  return own.flatMap((word, index) => {
    const [option = '', ...value] = plainText(word).split('=');
    if (!RUNNERS[runner].extra.includes(option)) return [];
    const named = value.length > 0 ? value.join('=') : plainText(own[index + 1]);
    return [option.startsWith('--with-') ? `${option} ${named}` : named];
  });
}

function npmWords({ own, reference, program: written }: Run, { program = '', extra }: LaunchedPackage): GappedText[] {
  const options = own.filter((word) => !['-y', '--yes'].includes(plainText(word)));
  const named = program || (extra && written);
  return [['-y'], ...options, ...(named ? [['-p'], [reference], [named]] : [[reference]])];
}

function pythonWords({ own, reference }: Run, program: string | undefined, name: string): GappedText[] {
  // Only a plain name with an exact version can be run directly.
  const isPlain = /^[\w.-]+([=@]=?[\w.+!-]+)?$/.test(reference);
  return [...own, ...(program || !isPlain ? [['--from'], [reference], [program ?? name]] : [[reference]])];
}

/** A container sees only the named variables of its user. */
function runImage({ runner, own, reference, args, env }: Run, started: LaunchedPackage): CommandLaunch {
  const { options, variables } = readVariables(own, env);
  const passed = variables.flatMap(({ name }) => [['-e'], [name]]);
  return {
    kind: 'command',
    command: runner,
    args: [['run'], ['-i'], ['--rm'], ...options, ...passed, [reference], ...args],
    env: variables,
    package: started,
  };
}

/** Converts `-e NAME` and `-e NAME={secret}` to variables; removes those that the command sets, and terminal options. */
function readVariables(own: readonly GappedText[], env: readonly Variable[]) {
  const options: GappedText[] = [];
  const variables = new Map(env.map((each) => [each.name, each]));
  for (let index = 0; index < own.length; index += 1) {
    const word = own[index] as GappedText;
    const option = plainText(word);
    if (/^(-[dit]{1,3}|--interactive|--tty|--rm|--detach)(=.*)?$/.test(option)) continue;
    const value = own[index + 1];
    const [, name, equals] = (['-e', '--env'].includes(option) && /^(\w+)(=?)/.exec(plainText(value))) || [];
    if (!name) {
      options.push(word);
      continue;
    }
    index += 1;
    if (equals === '=' && value?.length === 1) {
      variables.delete(name);
      options.push(word, value);
    } else variables.set(name, variables.get(name) ?? { name, from: name, value: undefined, isRequired: true });
  }
  return { options, variables: [...variables.values()] };
}

export function packageName(reference: string, kind: LaunchedPackage['kind']): string {
  if (kind === 'npm') return /^(@[^/@]+\/)?[^@]+/.exec(reference)?.[0] ?? reference;
  if (kind === 'pypi') return /^[\w.-]+/.exec(reference)?.[0] ?? reference;
  return reference.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
}
