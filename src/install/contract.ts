// Install requests and reports.
import { z } from 'zod';
import { CLIENTS } from '../catalog/client-config.ts';

const JsonRecord = z.record(z.string(), z.unknown());

export const LOCKFILE_NAME = 'hub.lock.json';
export const LOCKFILE_VERSION = 1;

/** Kinds that users can prefer if a server has several packages. */
export const PREFERENCES = ['pypi', 'npm', 'oci', 'mcpb'] as const;

const ID_MISSING = 'is missing: send the id of what to install, `<type>:<slug>@<version>`; with a manifest, its id';

export const InstallRequest = z.object({
  id: z
    .string({ error: ({ input }) => (input === undefined || input === null ? ID_MISSING : undefined) })
    .min(1, 'must not be empty')
    .max(1000)
    .describe(
      '`<type>:<slug>@<version>`; without the version, the newest stable one. With `manifest`, it is needed too, and must match the `type`, `id` and `version` of the manifest.',
    )
    .meta({ examples: ['mcp_server:team-wiki@4.0.1'] }),
  version: z
    .string()
    .nullish()
    .meta({ description: 'The version, if `id` has none.', examples: ['4.0.1'] }),
  prerelease: z
    .boolean()
    .nullish()
    .meta({ description: 'Without a version, use the newest one, even if it is a pre-release.', examples: [false] }),
  target: z
    .string()
    .min(1, 'must not be empty')
    .describe('Folder to install into; relative to INSTALL_ROOT, if that is set.')
    .meta({ examples: ['projects/wiki-helper'] }),
  manifest: z
    .record(z.string(), z.unknown(), {
      error:
        'must be the manifest itself as a JSON object, not a text, an address or a file; leave it out to install what is in the catalog',
    })
    .nullish()
    .describe(
      'The manifest itself, as an object. It is saved in the catalog, then installed. `id` must be the id of the manifest. The `server.json` of an MCP registry is accepted too; its id is `mcp_server:<name>@<version>`.',
    ),
  source_url: z.string().nullish().describe('Where an inline manifest came from.'),
  provenance: z.looseObject({ source_url: z.string().nullish() }).nullish().describe('Older form of `source_url`.'),
  clients: z
    .array(z.enum(CLIENTS))
    .max(CLIENTS.length)
    .nullish()
    .describe('MCP clients to configure in the target, in addition to the adapters of the manifest.')
    .meta({ examples: [['claude']] }),
  prefer: z
    .enum(PREFERENCES)
    .nullish()
    .describe('Kind of package to install if there are alternatives. Default: the first one that the machine can run.'),
  dest: z.string().nullish().describe('Folder for a checkout or an archive, instead of the one in the manifest.'),
  update: z.boolean().nullish().describe('Resolve versions again. Default: keep locked versions.'),
  force: z.boolean().nullish().describe('Replace folders that were changed, or that the hub did not create.'),
  dry_run: z
    .boolean()
    .nullable()
    .default(false)
    .transform(Boolean)
    .meta({ description: 'Return only the plan, and change nothing.', examples: [true] }),
  frozen: z
    .boolean()
    .nullable()
    .default(false)
    .transform(Boolean)
    .describe('Install exactly what the lockfile in the target says. Fields that choose something else are refused.'),
});
export type InstallRequest = z.infer<typeof InstallRequest>;

const PlannedWarning = z
  .string()
  .optional()
  .describe('What you should know first: names that are taken, files that are kept or replaced.');

export const PlannedArtifact = z.object({
  kind: z.string(),
  step: z.string().describe('Name of its step, such as `git.checkout`.'),
  spec: JsonRecord,
  command: z.string().describe('What will be done, in words.'),
  reason: z.string(),
  fault: z.string().optional().describe('Why it cannot be installed. Its step will fail, unless it is an alternative.'),
  warning: PlannedWarning,
  alternative: z.boolean().optional().describe('True if another package of the same server is installed instead.'),
});
export type PlannedArtifact = z.infer<typeof PlannedArtifact>;

export const PlannedAdapter = z.object({
  framework: z.string(),
  template_key: z.string(),
  path: z.string().describe('Relative to the target.'),
  generic: z
    .boolean()
    .describe('True if no template exists for this framework and template_key; a generic file is written.'),
  fault: z.string().optional().describe('Why it cannot be written; the step will fail.'),
  warning: PlannedWarning,
  note: z.string().optional().describe('Why nothing will be written for it; the step warns, and does not fail.'),
});
export type PlannedAdapter = z.infer<typeof PlannedAdapter>;

export const InstallPlan = z
  .object({
    id: z.string(),
    artifacts: z.array(PlannedArtifact),
    adapters: z.array(PlannedAdapter),
    mcp_registration: JsonRecord.describe('`{}` when there is nothing to register.'),
    removes: z
      .array(z.string())
      .optional()
      .describe('Only in a dry run: files and folders that the new version does not need and the install removes.'),
  })
  .meta({ id: 'InstallPlan' });
export type InstallPlan = z.infer<typeof InstallPlan>;

export const StepResult = z
  .object({
    step: z.string(),
    ok: z.boolean(),
    elapsed_secs: z.number().optional(),
    extra: JsonRecord.optional().describe(
      'Depends on the step: `error`, `warning`, `skipped`, `reason`, `path`, `paste` (what to add to your own files), …',
    ),
  })
  .meta({ id: 'InstallStep' });
export type StepResult = z.infer<typeof StepResult>;

/** Lines of a requirements file with digests, and the Python that they were resolved for. */
export const PythonPins = z.looseObject({
  tool: z.enum(['uv', 'pip']),
  requirements: z.array(z.string()).describe('Requirement lines, each with its hashes and optionally a marker.'),
  python: z.string().regex(/^3\.\d+$/),
  platform: z.string().describe('Where they apply: `any`, or the platform of the machine that resolved them.'),
});

/** The tool's own lock, with which any machine can fetch the same bytes again. */
const Pins = z.union([
  z.looseObject({
    tool: z.literal('npm'),
    packages: z.record(z.string(), JsonRecord).describe('The `packages` of package-lock.json, version 3.'),
  }),
  PythonPins,
]);
export type Pins = z.infer<typeof Pins>;

/** A program in `.hub/bin`: an artifact's program, or a command that runs in an artifact's folder. */
const LockedLauncher = z.looseObject({
  name: z.string(),
  artifact: z.number().describe('Position of the artifact in `artifacts`.'),
  program: z.string().optional(),
  command: z.array(z.string()).optional(),
});
export type LockedLauncher = z.infer<typeof LockedLauncher>;

export const LockedArtifact = z.looseObject({
  kind: z.string(),
  spec: JsonRecord,
  resolved: z.string().nullable(),
  integrity: z.string().nullable(),
  path: z.string().nullable(),
  ok: z.boolean(),
  tree: z.string().optional().describe('Digest of the folder at `path`, for checkouts, archives and bundles.'),
  pins: Pins.optional().describe('The lock of npm, uv or pip: what it needs to fetch the same bytes again.'),
});
export type LockedArtifact = z.infer<typeof LockedArtifact>;

export const LockedAdapter = z.looseObject({
  framework: z.string(),
  template_key: z.string(),
  path: z.string(),
  integrity: z.string(),
  entry: z.string().optional().describe('Name of the entry, in the configuration of a client.'),
  written: z.union([z.string(), JsonRecord]).optional().describe('The text of the file, or the entry.'),
  inputs: z.array(JsonRecord).optional().describe('What VS Code asks its user for.'),
  kept: z.boolean().optional().describe('True if it was changed by hand and an install kept the change.'),
  asked: z.boolean().optional().describe('True if the user chose the client, and the manifest does not list it.'),
});
export type LockedAdapter = z.infer<typeof LockedAdapter>;

/** Members are in writing order, so that reading and writing a lockfile changes nothing. */
export const LockedEntity = z.looseObject({
  id: z.string(),
  type: z.string(),
  name: z.string(),
  version: z.string(),
  artifacts: z.array(LockedArtifact),
  adapters: z.array(LockedAdapter),
  launchers: z.array(LockedLauncher).optional().describe('Programs in `.hub/bin`.'),
  provenance: z.looseObject({
    manifest_url: z.string().nullable(),
    source_url: z.string().nullable(),
    manifest_digest: z.string(),
    commit: z.string().optional(),
  }),
});
export type LockedEntity = z.infer<typeof LockedEntity>;

/** Loose, so that fields of a newer minor version are kept. */
export const Lockfile = z
  .looseObject({ version: z.number(), entities: z.array(LockedEntity) })
  .meta({ id: 'Lockfile' });
export type Lockfile = z.infer<typeof Lockfile>;

export const InstallReport = z
  .object({
    ok: z.boolean().describe('Every step but `gateway.register` succeeded.'),
    dry_run: z.boolean(),
    target: z.string(),
    warnings: z.array(z.string()).default([]).describe('What to know before use, for example that no remote lists it.'),
    plan: InstallPlan,
    results: z.array(StepResult),
    files_written: z
      .array(z.string())
      .describe('New or changed, relative to the target; without folders of artifacts.'),
    lockfile: Lockfile.describe('The lockfile on disk; without entities if there is none.'),
  })
  .meta({ id: 'InstallReport' });
export type InstallReport = z.infer<typeof InstallReport>;

export type InstallEvent =
  | { kind: 'plan'; plan: InstallPlan }
  | { kind: 'started'; step: string }
  | { kind: 'finished'; result: StepResult };
export type InstallListener = (event: InstallEvent) => void;

export interface UninstallRequest {
  /** As in the lockfile, with or without the version. */
  id: string;
  target: string;
  force: boolean;
}

export interface UninstallReport {
  id: string;
  target: string;
  removed: string[];
  /** Shared files, from which only the entity's entry was removed. */
  edited: string[];
  /** Kept, because they changed after the install. */
  kept: string[];
  /** By path: what users did in git in a kept folder, such as `branch 'fix', 2 commits`. */
  work: Record<string, string>;
}

/** One entry of a lockfile, compared with the disk. */
export interface LockCheck extends LockFinding {
  entity: string;
  /** The kind of the artifact, or the adapter. */
  what: string;
  path: string | null;
}

export interface LockFinding {
  outcome: 'same' | 'different' | 'missing' | 'unchecked';
  reason?: string;
}

export interface LockReport {
  ok: boolean;
  target: string;
  lockfile: string;
  checks: LockCheck[];
}
