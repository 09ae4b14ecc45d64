// What uv and pip each do in their own way. All of it happens in the work folder: they would follow links in the target.
import type { RunResult } from '../../lib/world.ts';
import type { Environment } from './pypi-environment.ts';
import type { PinnedPackage } from './pypi-packages.ts';

/** `python` is always the machine's own, with which the environment in the work folder is filled. */
export interface PythonProgram {
  readonly name: 'uv' | 'pip';
  /** Makes a virtual environment in the work folder; its texts say that it is in the target. */
  makeVenv(): Promise<RunResult>;
  /** Adds what the target's environment lacks besides packages of artifacts; nothing where that is there. */
  completeVenv?(python: string, there: Environment | undefined, isNew: boolean): Promise<RunResult>;
  /** What these say when there is no Python, or only half of one. */
  readonly noPython: RegExp;
  /** Finds out what would be installed; `options` hold it to what is there already. */
  resolve(
    python: string,
    wanted: { requirement: string; options: readonly string[]; indexUrl?: string },
  ): Promise<RunResult>;
  /** What `resolve` found out. */
  readResolved(): Promise<PinnedPackage[]>;
  install(python: string, wanted: { requirementsFile: string; indexUrl?: string }): Promise<RunResult>;
}
