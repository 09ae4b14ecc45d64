// Defines a command: a row of the command table, from which parsing, help, completion and docs/cli.md are built.
import type { EntryPoint } from '../access/contract.ts';
import type { Config } from '../config.ts';
import type { Hub } from '../hub/hub.ts';
import type { HubOperations } from '../hub/operations.ts';
import type { Ending } from './exit-codes.ts';
import type { Output } from './output/output.ts';
import type { Terminal } from './terminal/terminal.ts';

export interface OptionSpec<T> {
  /** As typed on the command line: `--limit <number>`. */
  flags: string;
  description: string;
  /** The value if the option is not given. */
  fallback: T;
  choices?: readonly string[];
  /** Parses the option's text; absent for a switch. `before` is the value so far of a repeatable option. @throws UsageError */
  read?(text: string, before?: T): T;
}

type OptionSpecs = Readonly<Record<string, OptionSpec<unknown>>>;
type Values<O extends OptionSpecs> = { [K in keyof O]: O[K] extends OptionSpec<infer T> ? T : never };

export interface ArgumentSpec {
  /** As shown in help: `<id>`, `[url]`, `[words...]`. */
  name: string;
  description: string;
  choices?: readonly string[];
  /** The kind of names that shells complete. */
  names?: NameKind;
}

export type NameKind = 'entities' | 'ids' | 'installed' | 'remotes' | 'views' | 'tokens' | 'webhooks';

export interface Call<O extends OptionSpecs = OptionSpecs> {
  args: readonly string[];
  options: Values<O>;
  terminal: Terminal;
  output: Output;
  access: HubAccess;
  table: CommandTable;
}

/** All commands; completion and docs/cli.md are generated from it. */
export interface CommandTable {
  commands: readonly Command[];
  /** First words of grouped commands, such as `remotes`, and their descriptions. */
  groups: Readonly<Record<string, string>>;
  /** Sections of the help and of docs/cli.md, by the name of their page. */
  sections: Readonly<Record<string, Section>>;
}

export interface Section {
  title: string;
  /** First words of its commands. */
  commands: readonly string[];
}

/** How a command reaches a hub. */
export interface HubAccess {
  /** Address of the named server; undefined means the local catalog. */
  readonly serverUrl: string | undefined;
  /** Settings of this process. @throws SettingError */
  config(): Config;
  /** Opens the server, or a hub in this process; later calls return the same one. @throws NotFoundError */
  open(options?: CatalogOptions): Promise<HubOperations>;
  /** Opens the hub in this process, for operations that only its owner may run. @throws NotFoundError */
  openLocal(options?: CatalogOptions): Promise<Hub>;
  /** Like `openLocal`, but returns undefined without a local catalog. */
  findLocal(): Promise<Hub | undefined>;
  /** Resolves when semantic search is ready in this process, when the time is up, or on shutdown. */
  settle(options?: { withinMs?: number }): Promise<void>;
}

interface CatalogOptions {
  /** Creates a missing local catalog; only for commands that change it. */
  mayCreate?: boolean;
  /** The entry point that the audit log records for local calls; the command line by default. */
  via?: EntryPoint;
}

export interface Command<O extends OptionSpecs = OptionSpecs> {
  /** `remotes add` is `['remotes', 'add']`. */
  path: readonly string[];
  summary: string;
  /** Further help, in full sentences. */
  details?: string;
  /** Which common options apply. `hub`: --hub and --json; `hub without answer`: only --hub; `local`: only --json; `plain`: none. */
  kind: 'hub' | 'hub without answer' | 'local' | 'plain';
  /** Whether only programs call it; help and completion do not list it. */
  isInternal?: true;
  /** Whether it only reads a little: SQLite then runs without threads, whose start would take as long as the command. */
  isShort?: true;
  args?: readonly ArgumentSpec[];
  options: O;
  /** Command lines, each with a description. */
  examples: readonly (readonly [line: string, does: string])[];
  run(call: Call<O>): Promise<Ending>;
}

/** Infers the type of `options` that `run` receives. */
export function command<const O extends OptionSpecs>(spec: Command<O>): Command {
  return spec as unknown as Command;
}
