// Repositories, checked out at exactly one commit.
import { z } from 'zod';
import { InstallError } from '../../errors.ts';
import { findStrayLink } from '../../target/tree.ts';
import type { ArtifactKind } from '../artifact.ts';
import { Destination, vendorNames } from '../destination.ts';
import { checkOut, findCommit, GIT_LIMITS, type GitLimits, isCommit } from './checkout.ts';
import { readRepository, refFault, repositoryFault, shownRepository } from './repository.ts';

const GitSpec = z.object({
  repo: checkedText(repositoryFault),
  ref: checkedText(refFault).nullish(),
  dest: Destination.nullish(),
  submodules: z
    .literal(false, { error: 'must not be true: submodules are not fetched; publish an archive that holds them' })
    .nullish(),
});
type GitSpec = z.infer<typeof GitSpec>;

export const gitKind = createGitKind(GIT_LIMITS);

export function createGitKind(limits: GitLimits): ArtifactKind<GitSpec> {
  return {
    step: 'git.checkout',
    spec: GitSpec,
    describe: ({ repo, ref }) => `check out ${ref ?? 'HEAD'} of ${shownRepository(repo)}`,
    location: ({ repo, dest }) => ({
      kind: 'vendor',
      dest: dest ?? undefined,
      names: vendorNames(readRepository(repo)?.href ?? repo),
    }),

    async resolve(spec, context) {
      const commit = await findCommit(spec.repo, spec.ref ?? 'HEAD', context);
      return { resolved: commit, integrity: integrityOf(commit) };
    },

    async build(spec, { resolved, integrity }, folder, context) {
      const commit = resolved ?? '';
      if (!isCommit(commit) || integrity !== integrityOf(commit))
        throw new InstallError(`The lockfile has no commit for ${shownRepository(spec.repo)}.`);
      const { repo, ref } = spec;
      await checkOut({ folder, repo, commit, limits }, context);
      await assertLinksStayInside(folder);
      return { extra: { commit, repo: shownRepository(repo), ...(ref ? { ref } : {}) } };
    },
  };
}

function integrityOf(commit: string): string {
  return `${commit.length === 64 ? 'sha256' : 'sha1'}:${commit}`;
}

async function assertLinksStayInside(folder: string): Promise<void> {
  const stray = await findStrayLink(folder);
  if (!stray) return;
  const where = stray.leads === 'out' ? ', which leads out of it' : " into '.git'";
  throw new InstallError(`The repository holds the link '${stray.path}'${where}; it was not installed.`);
}

function checkedText(faultOf: (text: string) => string | undefined) {
  return z.string().superRefine((text, context) => {
    const fault = faultOf(text);
    if (fault) context.addIssue(fault);
  });
}
