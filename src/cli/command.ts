// What a command is: a row of the command table, from which parsing, help, completion and docs/cli.md are made.
import type { Door } from '../access/contract.ts';
import type { Config } from '../config.ts';
import type { Hub } from '../hub.ts';
import type { HubOperations } from '../hub-operations.ts';
import type { Ending } from './exit-codes.ts';
import type { Output } from './output/output.ts';
import type { Terminal } from './terminal/terminal.ts';

export interface OptionSpec<T> {
  /** As people type it: `--limit <number>`. */
  flags: string;
  description: string;
  /** What it is when it is not given. */
  fallback: T;
  choices?: readonly string[];
  /** The text after it → its value; absent for a switch. `before` is the value so far of an option that may be repeated. @throws UsageError */
  read?(text: string, before?: T): T;
}

type OptionSpecs = Readonly<Record<string, OptionSpec<unknown>>>;
type Values<O extends OptionSpecs> = { [K in keyof O]: O[K] extends OptionSpec<infer T> ? T : never };

export interface ArgumentSpec {
  /** As help shows it: `<id>`, `[url]`, `[words...]`. */
  name: string;
  description: string;
  choices?: readonly string[];
  /** What shells offer for it. */
  names?: NameKind;
}

export const NAME_KINDS = ['entities', 'installed', 'remotes'] as const;
export type NameKind = (typeof NAME_KINDS)[number];

export interface Call<O extends OptionSpecs = OptionSpecs> {
  args: readonly string[];
  options: Values<O>;
  terminal: Terminal;
  output: Output;
  access: HubAccess;
  table: CommandTable;
}

/** All commands; also what completion and docs/cli.md are made from. */
export interface CommandTable {
  commands: readonly Command[];
  /** First words that stand for several commands → what they are about. */
  groups: Readonly<Record<string, string>>;
}

/** How a command reaches a hub. */
export interface HubAccess {
  /** Address of the named server; undefined means the local catalog. */
  readonly serverUrl: string | undefined;
  /** Settings of this process. @throws SettingError */
  config(): Config;
  /** The server, or a hub in this process; the same every time. */
  open(options?: CatalogOptions): Promise<HubOperations>;
  /** The hub in this process, for what only its owner can do. */
  openLocal(options?: CatalogOptions): Promise<Hub>;
  /** The same, or undefined when there is no local catalog. */
  findLocal(): Promise<Hub | undefined>;
  /** Resolves when semantic search is ready in this process, after this time, or when the process is asked to end. */
  settle(options?: { withinMs?: number }): Promise<void>;
}

/** A local catalog that is not there yet is made, unless it must exist. */
interface CatalogOptions {
  mustExist?: boolean;
  /** How the audit log says that the local catalog was reached, if not from the command line. */
  via?: Door;
}

export interface Command<O extends OptionSpecs = OptionSpecs> {
  /** `remotes add` is `['remotes', 'add']`. */
  path: readonly string[];
  summary: string;
  /** What else there is to know, in whole sentences. */
  details?: string;
  /** `hub`: takes --hub and --json; `hub without answer`: only --hub; `local`: only --json; `plain`: neither. */
  kind: 'hub' | 'hub without answer' | 'local' | 'plain';
  args?: readonly ArgumentSpec[];
  options: O;
  /** Command lines, each with what it does. */
  examples: readonly (readonly [line: string, does: string])[];
  run(call: Call<O>): Promise<Ending>;
}

/** Only for the types: what `run` gets follows from `options`. */
export function command<const O extends OptionSpecs>(spec: Command<O>): Command {
  return spec as unknown as Command;
}
