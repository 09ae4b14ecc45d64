// What packages of one install have become, once a later one of the same install went into the environment that they share.
import type { Dependency, InstalledArtifact, InstallerKind, LockedResult } from './artifacts/artifact-installer.ts';
import { installerKindOf } from './artifacts/installer-kind.ts';
import { isVersionOf } from './artifacts/npm.ts';
import { readNpmLock } from './artifacts/npm-lock.ts';
import { NpmSpec } from './artifacts/npm-spec.ts';
import { installedVersions } from './artifacts/pypi-environment.ts';
import { PypiSpec } from './artifacts/pypi-spec.ts';
import { isVersion } from './artifacts/pypi-version.ts';
import type { PlannedArtifact } from './contract.ts';
import { knownTrees, treeKey } from './known-trees.ts';
import type { ArtifactOutcome } from './lock-entry.ts';
import { treeOf } from './tree.ts';

export interface Settled {
  outcomes: ArtifactOutcome[];
  /** Packages that are of another version now, from and to. */
  moved: [from: string, to: string][];
}

interface Packages {
  /** Undefined when it is not there at all. */
  now(installed: InstalledArtifact): Promise<(LockedResult & { resolved: string }) | undefined>;
  /** Whether the version is one that the manifest asks for. */
  fits(spec: PlannedArtifact['spec'], resolved: string): boolean;
  /** Whether another version of what a package needs may not be what it can do with. */
  isEachTold: boolean;
}

type Look = (ofThisInstall: readonly InstalledArtifact[], targetDir: string) => Promise<Packages>;

const LOOKS: Partial<Record<InstallerKind, Look>> = {
  npm: async (ofThisInstall, targetDir) => ({
    async now({ path }) {
      const name = (path ?? '').replace(/^node_modules\//, '');
      const found = await readNpmLock(targetDir, name).catch(() => undefined);
      return (
        found && {
          ...found,
          resolved: `${name}@${found.version}`,
          trees: treesOf(found.dependencies, ofThisInstall),
        }
      );
    },
    fits(spec, resolved) {
      const { data } = NpmSpec.safeParse(spec);
      return data !== undefined && isVersionOf(data, resolved.slice(data.package.length + 1));
    },
    isEachTold: false,
  }),
  pypi: async (ofThisInstall, targetDir) => {
    const versions = await installedVersions(targetDir);
    // Whatever moved was moved by a package of this install, which knows the digests.
    const digests = new Map(ofThisInstall.flatMap(pinnedIn).map(({ resolved, integrity }) => [resolved, integrity]));
    const now = ({ resolved, integrity }: Dependency): Dependency => {
      const [name = ''] = resolved.split('==');
      const version = versions.get(name);
      const found = version === undefined ? resolved : `${name}==${version}`;
      return { resolved: found, integrity: digests.get(found) ?? (found === resolved ? integrity : null) };
    };
    return {
      async now(installed) {
        const [own, ...dependencies] = pinnedIn(installed).map(now);
        return own && { ...own, dependencies: dependencies.sort((a, b) => (a.resolved < b.resolved ? -1 : 1)) };
      },
      fits(spec, resolved) {
        const exact = PypiSpec.safeParse(spec).data?.exactVersion;
        return exact === undefined || isVersion(resolved.split('==')[1] ?? '', exact);
      },
      isEachTold: true,
    };
  },
};

/** Whatever moved was moved by a package of this install; of what none of them knows, nothing is said. */
function treesOf(
  dependencies: readonly Dependency[],
  ofThisInstall: readonly InstalledArtifact[],
): Record<string, string> {
  const known = knownTrees(undefined, ofThisInstall);
  return Object.fromEntries(
    dependencies.flatMap((each) => {
      const tree = known.get(treeKey(each));
      return tree?.startsWith('sha256:') ? [[each.resolved, tree]] : [];
    }),
  );
}

/** `newest` is what was installed last, after all of `outcomes`. */
export async function settle(
  outcomes: readonly ArtifactOutcome[],
  newest: { kind: InstallerKind; installed: InstalledArtifact },
  targetDir: string,
): Promise<Settled> {
  const isBeside = ({ planned, installed }: ArtifactOutcome) =>
    typeof installed?.path === 'string' && installerKindOf(planned.kind, planned.spec) === newest.kind;
  const beside = outcomes.filter(isBeside).flatMap(({ installed }) => (installed ? [installed] : []));
  const look = LOOKS[newest.kind];
  const settled: Settled = { outcomes: [...outcomes], moved: [] };
  if (!look || beside.length === 0 || newest.installed.path === null) return settled;
  const packages = await look([...beside, newest.installed], targetDir);
  for (const [index, outcome] of outcomes.entries()) {
    const { planned, installed } = outcome;
    if (!installed || !isBeside(outcome)) continue;
    const now = await packages.now(installed);
    const isOther = now?.resolved !== installed.resolved;
    if (!now || (isOther && !packages.fits(planned.spec, now.resolved))) {
      settled.outcomes[index] = { ...outcome, isDisplaced: true };
    } else {
      const tree = isOther ? await treeOf(newest.kind, installed, targetDir) : installed.tree;
      const { resolved, integrity, dependencies = [], trees } = now;
      settled.outcomes[index] = {
        ...outcome,
        isDisplaced: false,
        installed: {
          ...installed,
          resolved,
          integrity,
          dependencies,
          ...(tree ? { tree } : {}),
          ...(trees ? { trees } : {}),
        },
      };
    }
    if (now) settled.moved.push(...movedIn(installed, now, packages.isEachTold));
  }
  return settled;
}

/** What the step of the newest tells of it. */
export function movedExtra(moved: Settled['moved'], resolved: string | null): Record<string, unknown> {
  if (moved.length === 0) return {};
  const told = [...new Set(moved.map(([from, to]) => `${to} instead of ${from}`))].join(', ');
  const warning = `With ${resolved}, this target has ${told}, because all packages of the install share one environment: the manifest should not ask for versions that do not go together.`;
  return { warning };
}

function movedIn(installed: LockedResult, now: LockedResult, isEachTold: boolean): Settled['moved'] {
  const [before, after] = [pinnedIn(installed), pinnedIn(now)];
  if (!isEachTold) return pairsOf(before.slice(0, 1), after.slice(0, 1));
  const names = new Map(after.map((each) => [nameOf(each), each]));
  return before.flatMap((each) => pairsOf([each], [names.get(nameOf(each)) ?? each]));
}

function pairsOf([from]: Dependency[], [to]: Dependency[]): Settled['moved'] {
  return from && to && from.resolved !== to.resolved ? [[from.resolved, to.resolved]] : [];
}

function nameOf({ resolved }: Dependency): string {
  return resolved.split('==')[0] ?? '';
}

function pinnedIn({ resolved, integrity, dependencies = [] }: LockedResult): Dependency[] {
  return resolved === null ? [] : [{ resolved, integrity }, ...dependencies];
}
