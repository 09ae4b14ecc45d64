// Reads POLICY_FILE when the hub starts and whenever the file changes.
import { readFile, stat } from 'node:fs/promises';
import pLimit from 'p-limit';
import { HubError, StartError } from '../errors.ts';
import type { Logger } from '../lib/world.ts';
import type { PolicyChange } from './contract.ts';
import type { Policies } from './policies.ts';

export interface PolicyFile {
  /** Explains why the current file cannot be used. */
  error(): string | undefined;
  /** The text that was last read and applied; undefined if the file could not be used since the hub started. */
  text(): string | undefined;
  close(): void;
}

const LOOK_EVERY_MS = 1_000;

export interface PolicyFileDependencies {
  path: string;
  state: Policies['state'];
  change: (text: string) => Promise<PolicyChange>;
  log: Logger;
  /** Called after the rules changed. */
  onChange: () => void;
}

/** @throws StartError if the file cannot be used and there is no earlier policy. */
export async function openPolicyFile(dependencies: PolicyFileDependencies): Promise<PolicyFile> {
  const { path, state, change, log, onChange } = dependencies;
  let seen: string | undefined;
  let fault: string | undefined;
  let applied: string | undefined;

  const hasPolicy = async () => (await state()).text !== null;

  async function look(): Promise<void> {
    const version = await versionOf(path);
    if (version === seen) return;
    const problem = await take().then(() => undefined, faultOfFile);
    seen = version;
    // Without an earlier policy, the hub does not start, and reports the fault then.
    if (problem !== undefined && problem !== fault && (await hasPolicy()))
      log.error(
        { file: path },
        `The policy file could not be applied, so the earlier policy stays in force. ${problem}`,
      );
    fault = problem;
  }

  async function take(): Promise<void> {
    const text = await readFile(path, 'utf8');
    const isInForce = text === (await state()).text;
    const { affected } = isInForce ? { affected: 0 } : await change(text);
    applied = text;
    if (isInForce) return;
    log.info({ file: path, affected }, 'The policy changed');
    onChange();
  }

  await look();
  if (fault !== undefined && !(await hasPolicy()))
    throw new StartError(`The policy file '${path}' could not be applied. ${fault}`);
  const oneAtATime = pLimit(1);
  const timer = setInterval(() => {
    // Applying a policy to a large catalog takes longer than the interval.
    if (oneAtATime.activeCount > 0) return;
    oneAtATime(look).catch((error) => log.error({ error }, 'The policy file could not be read'));
  }, LOOK_EVERY_MS);
  timer.unref();
  return { error: () => fault, text: () => applied, close: () => clearInterval(timer) };
}

/** Changes with every change of the file; constant while the file is missing. */
async function versionOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found ? `${found.mtimeMs} ${found.size} ${found.ino}` : 'missing';
}

/** @throws errors that the file did not cause, so that it is read again. */
function faultOfFile(error: unknown): string {
  if (error instanceof HubError && error.code === 'invalid_policy') return error.message;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) throw error;
  return code === 'ENOENT' ? 'It does not exist.' : `It cannot be read (${code}).`;
}
