// What an installer of one kind of artifact is.
import type { z } from 'zod';
import type { Download, Fetch, Run, VetAddress } from '../../lib/world.ts';

/** Every way an artifact is brought into a target; several are forms of the manifest's kind `other`. */
export type InstallerKind = 'pypi' | 'oci' | 'git' | 'zip' | 'npm' | 'mcpb' | 'remote' | 'unsupported';

export interface InstallContext {
  /** Absolute, with links resolved; every file an installer writes is inside it. */
  targetDir: string;
  /** A folder inside the target for what is not finished yet, on the same filesystem; removed when the step ends. */
  scratchDir: string;
  /** A folder out of reach of whoever can write to the target, for programs: they follow links, also those that are put there meanwhile. */
  workDir: string;
  signal: AbortSignal;
  /** In a frozen install: what the lockfile says. Anything else is an error. */
  locked?: LockedResult;
  /** In a frozen install: what the lockfile says that the other artifacts of the entity and of the same kind are. */
  lockedOthers?: readonly string[];
  knownPlaces: KnownPlaces;
  /** What the lockfile says is in the folders of packages, by `treeKey`. */
  knownTrees?: ReadonlyMap<string, string>;
  run: Run;
  fetch: Fetch;
  download: Download;
  vetAddress: VetAddress;
  /** Whether addresses of private networks, `file:` included, may be used. */
  allowPrivateNetwork: boolean;
}

/** What the lockfile says of folders in the target. */
export interface KnownPlaces {
  /** Of this artifact, or of another version of its entity: these may be replaced. */
  ours: readonly string[];
  /** Of other entities, unless they have the very same artifact. */
  ofOthers: readonly { path: string; id: string }[];
}

/** Something that came along with an artifact, because that needs it. */
export interface Dependency {
  resolved: string;
  integrity: string | null;
}

/** What the lockfile says of an artifact. */
export interface LockedResult {
  resolved: string | null;
  integrity: string | null;
  dependencies?: readonly Dependency[];
  /** Digests of the folders that came along, where `integrity` is that of an archive, by what `dependencies` call them. */
  trees?: Readonly<Record<string, string>>;
}

/** What the lockfile needs in order to get the same bytes again. */
export interface InstalledArtifact extends LockedResult {
  /** Exactly what was installed: a version, a commit, an image with its digest, an address. */
  resolved: string | null;
  /** Digest of what was installed, `sha256:…` or as its registry writes it. */
  integrity: string | null;
  /** What came along with it, in a fixed order. */
  dependencies?: readonly Dependency[];
  /** Where it is, relative to the target. */
  path: string | null;
  /** Files that belong to the project and were written for it, relative to the target. */
  files?: readonly string[];
  /** Of an image that is another for each kind of machine: which one is at `path`. */
  platform?: string;
  /** Digest of what is there, where `integrity` is that of an archive; found out after the install. */
  tree?: string;
  /** Whether it was at `path` before, and nobody knows what is in it: then there is no `tree`. */
  isUnchecked?: boolean;
  /** What to tell about the step: the tool that was used, `skipped`, the end of its output. */
  extra?: Record<string, unknown>;
}

export interface ArtifactInstaller<Spec> {
  /** Name of the step in install results, such as `git.checkout`. */
  readonly step: string;
  /** Reads and checks the spec: what it refuses is a fault of the manifest. */
  readonly spec: z.ZodType<Spec>;
  /** What will be done, for people to read. */
  command(spec: Spec): string;
  /** Where it goes, relative to the target, when that is a place of its own: no other artifact may go there too. */
  place?(spec: Spec): string;
  /** Brings one artifact into the target. Running it again leaves the same result. @throws InstallError with a sentence a person can act on */
  install(spec: Spec, context: InstallContext): Promise<InstalledArtifact>;
}

/** A step that failed for a reason a person can do something about. */
export class InstallError extends Error {
  override readonly name = 'InstallError';
  readonly extra: Record<string, unknown>;

  constructor(message: string, options: { cause?: unknown; extra?: Record<string, unknown> } = {}) {
    super(message, { cause: options.cause });
    this.extra = options.extra ?? {};
  }
}
