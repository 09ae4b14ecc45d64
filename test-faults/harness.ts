// Injects faults within a time limit, counts the results, and prints one table.
import { AssertionError } from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseAddress } from '../src/lib/net/address.ts';

export type Engine = DatabaseAddress['engine'];

export interface Options {
  /** How often the hub is killed during each kind of work. */
  kills: number;
  soakSec: number;
  seed: number;
  /** Time limit for injections. */
  totalSec: number;
  /** Names of groups, or parts of the names of faults. */
  only: readonly string[] | undefined;
}

/** Runs one injection and counts its result. Once the time is over, injects nothing and resolves to false. */
type Inject = (attempt: () => Promise<void>) => Promise<boolean>;

/** Passed to test helpers, so that they clean up after the fault. */
export type Scope = TestContext;

export interface Fault {
  name: string;
  engines: readonly Engine[];
  /** Why it cannot be injected here. */
  skip?: string;
  /** How long one injection takes by design, in addition to the time for recovery. */
  worksForMs?: number;
  /** Calls `inject` for each injection. A rejected promise counts as a loss, a slow one as a hang. */
  run(scope: Scope, engine: Engine, inject: Inject): Promise<void>;
}

export interface Row {
  fault: string;
  engine: Engine | '';
  injected: number;
  survived: number;
  lost: number;
  hung: number;
  note: string;
}

export const BOTH: readonly Engine[] = ['sqlite', 'postgres'];
/** Limit for one injection and its checks; generous, because machines are busy. */
const LONGEST_MS = 120_000;

export async function runFault(fault: Fault, engine: Engine, { totalSec }: Options): Promise<Row> {
  const isOver = () => performance.now() > totalSec * 1_000;
  const skip = fault.skip ?? (isOver() ? 'not run: the time was over' : undefined);
  const row: Row = { fault: fault.name, engine, injected: 0, survived: 0, lost: 0, hung: 0, note: skip ?? '' };
  if (skip) return row;
  const { scope, end } = openScope();
  const longestMs = LONGEST_MS + (fault.worksForMs ?? 0);
  const inject: Inject = async (attempt) => {
    if (isOver()) {
      row.note ||= 'stopped: the time was over';
      return false;
    }
    row.injected += 1;
    try {
      const outcome = await Promise.race([attempt(), sleep(longestMs, 'hung' as const, { ref: false })]);
      row[outcome === 'hung' ? 'hung' : 'survived'] += 1;
    } catch (error) {
      row.lost += 1;
      row.note ||= firstLine(error);
    }
    return true;
  };
  try {
    await fault.run(scope, engine, inject);
  } catch (error) {
    row.lost += 1;
    row.note ||= firstLine(error);
  } finally {
    await end();
  }
  return row;
}

function firstLine(error: unknown): string {
  if (error instanceof AssertionError) console.error(error);
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n').slice(0, 3).join(' ').slice(0, 160);
}

function openScope(): { scope: Scope; end(): Promise<void> } {
  const closers: (() => unknown)[] = [];
  const after = (closer: () => unknown) => void closers.push(closer);
  return {
    scope: { after } as unknown as Scope,
    async end() {
      for (const closer of closers.reverse()) await Promise.resolve(closer()).catch((error) => console.error(error));
    },
  };
}

/** Deterministic for a seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function table(rows: readonly Row[]): string {
  const lines = rows.map(({ fault, engine, injected, survived, lost, hung, note }) =>
    ['', fault, engine, injected, survived, lost, hung, note, ''].join(' | ').trim(),
  );
  return [
    '| Fault | Database | Injected | Survived | Lost | Hung | Note |',
    '|---|---|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}
