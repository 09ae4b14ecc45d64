// What a kind of artifact is: how its spec is read, what it resolves to, and how its folder is built.
import type { z } from 'zod';
import type { Bundle } from '../../catalog/launch/bundle.ts';
import type { Download, Fetch, Run, VetAddress } from '../../lib/world.ts';
import type { Pins } from '../contract.ts';

/** What an installer may do on this machine. On a shared hub, everything is false or empty but what the operator names. */
export interface Trust {
  /** A person installs on their own machine: their own npm, pip, git and docker configuration applies. */
  isOwnMachine: boolean;
  allowScripts: boolean;
  allowBuild: boolean;
  /** Hosts, with an optional path prefix, that get the credentials that the operator has for them (`INSTALL_CREDENTIALS_FOR`). */
  credentialsFor: readonly string[];
}

export interface ArtifactContext {
  /** An empty folder in the target, on its filesystem, for what is not finished; removed when the step ends. */
  stagingDir: string;
  /** The home folder of the user, where tools keep their settings. */
  home: string;
  signal: AbortSignal;
  run: Run;
  fetch: Fetch;
  download: Download;
  vetAddress: VetAddress;
  /** Whether addresses of private networks, `file:` included, may be used. */
  allowPrivateNetwork: boolean;
  trust: Trust;
  /** When the manifest was published: an exact version gets the dependencies of that time where the tool can do that. */
  publishedAt: string | null;
}

export interface Resolution {
  /** A version (`name==1.0`, `name@1.0`), a commit, an image with its digest, an address without credentials. */
  resolved: string | null;
  /** Digest of what is fetched, `sha256:…` or as its registry writes it. */
  integrity: string | null;
  pins?: Pins;
}

/** A program of an artifact, to be started by a launcher. Paths are relative to the artifact's folder. */
export interface Program {
  name: string;
  file: string;
  /** The interpreter that it is started with, such as `bin/python`; absent for programs that start by themselves. */
  interpreter?: string;
}

export interface Built {
  programs?: readonly Program[];
  bundle?: Bundle;
  /** Sentences for people: install scripts that did not run, an image for another platform. */
  warnings?: readonly string[];
  /** More for the step's `extra`: the tool that was used, counts. */
  extra?: Record<string, unknown>;
  /** Set when there is nothing to have: a remote server, an image on a machine without an engine. The reason is a sentence. */
  skipped?: string;
}

export type Location =
  /** `.hub/<area>/<name>/<pin>`, built where it stays. */
  | { kind: 'hub'; area: 'python' | 'npm'; name: string }
  /** `dest` when the manifest chooses one, otherwise the first of `names` that is free below `vendor/`. Built in staging. */
  | { kind: 'vendor'; dest: string | undefined; names: readonly string[] }
  | { kind: 'none' };

export interface ArtifactKind<Spec> {
  /** Name of the step in install results, such as `git.checkout`. */
  readonly step: string;
  /** Reads and checks the spec: what it refuses is a fault of the manifest. */
  readonly spec: z.ZodType<Spec>;
  describe(spec: Spec): string;
  location(spec: Spec): Location;
  /** Why this machine cannot use such an artifact, as a sentence; undefined when it can. Locked packages may need more. */
  unavailable?(spec: Spec, context: ArtifactContext, pins?: Pins): Promise<string | undefined>;
  /** Finds out exactly what the spec means. May leave files in `stagingDir` for `build`. @throws InstallError */
  resolve(spec: Spec, context: ArtifactContext): Promise<Resolution>;
  /** Fills an empty folder with exactly what was resolved, now or by another machine; it checks every digest. @throws InstallError */
  build(spec: Spec, resolution: Resolution, folder: string, context: ArtifactContext): Promise<Built>;
  /** What a folder in `vendor` offers that an earlier install built. */
  inspect?(folder: string): Promise<Built>;
}
