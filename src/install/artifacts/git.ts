// Repositories: checked out beside, looked at, then put in place, so that every install ends as the first one does.
import { join } from 'node:path';
import { z } from 'zod';
import { treeDigest } from '../../lib/file-digest.ts';
import { pathInside } from '../../lib/path-inside.ts';
import { MAX_ARCHIVE_BYTES } from './archive-install.ts';
import { type ArtifactInstaller, type InstallContext, InstallError } from './artifact-installer.ts';
import { assertReplaceable, Destination, MARK, putInPlace, vendorFolder } from './destination.ts';
import { refFault, repositoryFault, shownRepository } from './git-address.ts';
import { createByteBudget } from './git-bytes.ts';
import { checkOut } from './git-checkout.ts';
import { assertLinksStayInside } from './git-links.ts';

const GitSpec = z.object({
  repo: checkedText(repositoryFault),
  ref: checkedText(refFault).nullish(),
  dest: Destination.nullish(),
  submodules: z.boolean().nullish(),
});
type GitSpec = z.infer<typeof GitSpec>;

export const gitInstaller = createGitInstaller({ mostBytes: MAX_ARCHIVE_BYTES });

/** `mostBytes` is what hosts may send for a repository and its submodules. */
export function createGitInstaller({ mostBytes }: { mostBytes: number }): ArtifactInstaller<GitSpec> {
  return {
    step: 'git.checkout',
    spec: GitSpec,
    command: (spec) =>
      `git fetch --depth 1 ${shownRepository(spec.repo)} ${spec.ref ?? 'HEAD'} into ${placeOf(spec)}${spec.submodules ? ', with submodules' : ''}`,
    place: placeOf,

    async install(spec, context) {
      const place = placeOf(spec);
      // Asked before anything is fetched: what is in the way will not go away meanwhile.
      await assertReplaceable(place, context);
      const fresh = join(context.workDir, 'checkout');
      const locked = context.locked?.resolved;
      const ref = locked ?? spec.ref ?? 'HEAD';
      const commit = await checkOut(
        {
          folder: fresh,
          repo: spec.repo,
          ref,
          submodules: spec.submodules === true,
          budget: createByteBudget(mostBytes),
        },
        context,
      );
      if (locked && locked !== commit)
        throw new InstallError(`The lockfile has commit ${locked}, and ${commit} was fetched.`);
      await assertLinksStayInside(fresh);
      await replaceIfAnother(place, fresh, context);
      return {
        resolved: commit,
        integrity: `${commit.length === 64 ? 'sha256' : 'sha1'}:${commit}`,
        path: place,
        extra: { commit, repo: shownRepository(spec.repo), ...(spec.ref ? { ref: spec.ref } : {}) },
      };
    },
  };
}

function placeOf({ repo, dest }: GitSpec): string {
  return dest ?? vendorFolder(repo);
}

/** What is there already and the same stays untouched, so that a second install changes not a single byte. */
async function replaceIfAnother(place: string, fresh: string, context: InstallContext): Promise<void> {
  const existing = await pathInside(context.targetDir, place);
  const skip = [MARK];
  const [old, made] = await Promise.all([
    treeDigest(existing, { skip }).catch(() => undefined),
    treeDigest(fresh, { skip }),
  ]);
  if (old !== made) await putInPlace(fresh, place, context);
}

function checkedText(faultOf: (text: string) => string | undefined) {
  return z.string().superRefine((text, context) => {
    const fault = faultOf(text);
    if (fault) context.addIssue({ code: 'custom', message: fault });
  });
}
