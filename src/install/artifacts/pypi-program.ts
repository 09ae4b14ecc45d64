// What uv and pip each do in their own way.
import type { RunResult } from '../../lib/world.ts';
import type { PinnedPackage } from './pypi-packages.ts';

export interface PythonProgram {
  readonly name: 'uv' | 'pip';
  /** Makes a virtual environment where nothing is. */
  makeVenv(folder: string): Promise<RunResult>;
  /** Adds what the program needs inside an environment, however it came about; nothing where that is there. */
  completeVenv?(folder: string): Promise<RunResult>;
  /** What these say when there is no Python, or only half of one. */
  readonly noPython: RegExp;
  /** Finds out what would be installed; `options` hold it to what is there already. */
  resolve(requirement: string, options: readonly string[], indexUrl: string | undefined): Promise<RunResult>;
  /** What `resolve` found out. */
  readResolved(): Promise<PinnedPackage[]>;
  /** `isAnew`: also what seems to be there already. */
  install(requirementsFile: string, indexUrl: string | undefined, isAnew: boolean): Promise<RunResult>;
}
