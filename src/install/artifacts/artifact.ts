// The interface of an artifact kind: how its spec is parsed, what it resolves to, and how its folder is built.
import type { z } from 'zod';
import type { Bundle } from '../../catalog/launch/bundle.ts';
import type { Download, Fetch, Run, VetAddress } from '../../lib/world.ts';
import type { Pins } from '../contract.ts';

/** What an installer may do on this machine. On a shared hub, everything is off unless the operator allows it. */
export interface Trust {
  /** The user installs on their own machine, so their npm, pip, git and docker configuration applies. */
  isOwnMachine: boolean;
  allowScripts: boolean;
  allowBuild: boolean;
  /** Hosts, with an optional path prefix, that may receive the operator's credentials (`INSTALL_CREDENTIALS_FOR`). */
  credentialsFor: readonly string[];
}

export interface ArtifactContext {
  /** An empty folder in the target, on the same file system, for unfinished work; removed when the step ends. */
  stagingDir: string;
  /** The user's home folder, where tools store their settings. */
  home: string;
  signal: AbortSignal;
  run: Run;
  fetch: Fetch;
  download: Download;
  vetAddress: VetAddress;
  /** Whether private addresses, including `file:`, may be used. */
  allowPrivateNetwork: boolean;
  trust: Trust;
  /** When the manifest was published. For an exact version, tools that support it pick the dependencies of that time. */
  publishedAt: string | null;
}

export interface Resolution {
  /** A version (`name==1.0`, `name@1.0`), a commit, an image with its digest, an address without credentials. */
  resolved: string | null;
  /** Digest of the fetched content, as `sha256:…` or in the format of its registry. */
  integrity: string | null;
  pins?: Pins;
}

/** A program of an artifact that a launcher starts. Paths are relative to the artifact's folder. */
export interface Program {
  name: string;
  file: string;
  /** The interpreter that runs it, such as `bin/python`; absent for executables. */
  interpreter?: string;
}

export interface Built {
  programs?: readonly Program[];
  bundle?: Bundle;
  /** Sentences for people: skipped install scripts, an image for another platform. */
  warnings?: readonly string[];
  /** Added to the step's `extra`: the tool that was used, counts. */
  extra?: Record<string, unknown>;
  /** The reason, as a sentence, if nothing can be installed: a remote server, or an image on a machine without an engine. */
  skipped?: string;
}

export type Location =
  /** `.hub/<area>/<name>/<pin>`, built in place. */
  | { kind: 'hub'; area: 'python' | 'npm'; name: string }
  /** `dest` if the manifest chooses one, otherwise the first free one of `names` below `vendor/`. Built in staging. */
  | { kind: 'vendor'; dest: string | undefined; names: readonly string[] }
  | { kind: 'none' };

export interface ArtifactKind<Spec> {
  /** Name of the step in install results, such as `git.checkout`. */
  readonly step: string;
  /** Parses and checks the spec; anything it refuses is a fault of the manifest. */
  readonly spec: z.ZodType<Spec>;
  describe(spec: Spec): string;
  location(spec: Spec): Location;
  /** Explains why this machine cannot use such an artifact; undefined if it can. Locked packages may need more. */
  unavailable?(spec: Spec, context: ArtifactContext, pins?: Pins): Promise<string | undefined>;
  /** Resolves the spec to exact content. May leave files in `stagingDir` for `build`. @throws InstallError */
  resolve(spec: Spec, context: ArtifactContext): Promise<Resolution>;
  /** Fills an empty folder with exactly the resolved content, and checks every digest. @throws InstallError */
  build(spec: Spec, resolution: Resolution, folder: string, context: ArtifactContext): Promise<Built>;
  /** Describes a folder in `vendor` that an earlier install built. */
  inspect?(folder: string): Promise<Built>;
}
