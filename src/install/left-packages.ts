// Packages that an earlier version of an entity brought into a shared environment, and that nothing in the lockfile needs any more.
import { installerKindOf } from './artifacts/installer-kind.ts';
import { readNpmLock } from './artifacts/npm-lock.ts';
import { installedVersions } from './artifacts/pypi-environment.ts';
import { LOCKFILE_NAME, type LockedArtifact, type LockedEntity, type Lockfile } from './contract.ts';
import type { RemovedLeftovers } from './leftovers.ts';

type Left = RemovedLeftovers['left'];

const REASON = `nothing in ${LOCKFILE_NAME} needs it any more; uninstall it, unless the project uses it itself`;

/** Told and not removed: a project may use what it finds there. `before` is what the lockfile said of the entity. */
export async function leftPackages(
  before: LockedEntity | undefined,
  lockfile: Lockfile,
  targetDir: string,
): Promise<Left> {
  const ofKind = (kind: 'pypi' | 'npm', artifacts: readonly LockedArtifact[] = []) =>
    artifacts.filter((each) => each.path !== null && installerKindOf(each.kind, each.spec) === kind);
  const now = lockfile.entities.flatMap(({ artifacts }) => artifacts);
  const python = leftPython(ofKind('pypi', before?.artifacts), ofKind('pypi', now), targetDir);
  const node = leftNode(ofKind('npm', before?.artifacts), ofKind('npm', now), targetDir);
  return [...(await python), ...(await node)];
}

/** What came along counts too: pip and uv leave it behind. */
async function leftPython(before: LockedArtifact[], now: LockedArtifact[], targetDir: string): Promise<Left> {
  const needed = new Set(now.flatMap(pinnedIn).map((each) => each.split('==')[0]));
  const gone = [...new Set(before.flatMap(pinnedIn))].filter((each) => !needed.has(each.split('==')[0]));
  if (gone.length === 0) return [];
  const versions = await installedVersions(targetDir).catch(() => new Map<string, string>());
  const isThere = (each: string) => `${each.split('==')[0]}==${versions.get(each.split('==')[0] ?? '')}` === each;
  return gone.filter(isThere).map((each) => ({ path: `${before[0]?.path} (${each})`, reason: REASON }));
}

/** Only what package.json names: npm itself removes what came along once nothing needs it. */
async function leftNode(before: LockedArtifact[], now: LockedArtifact[], targetDir: string): Promise<Left> {
  const needed = now.flatMap(pinnedIn);
  const left: Left = [];
  for (const { path, resolved } of before) {
    const name = (path ?? '').replace(/^node_modules\//, '');
    if (needed.some((each) => each.startsWith(`${name}@`))) continue;
    const found = await readNpmLock(targetDir, name).catch(() => undefined);
    if (found && `${name}@${found.version}` === resolved) left.push({ path: `${path} (${resolved})`, reason: REASON });
  }
  return left;
}

function pinnedIn({ resolved, dependencies = [] }: LockedArtifact): string[] {
  return [resolved, ...dependencies.map((each) => each.resolved)].filter((each) => each !== null);
}
