// Marks the manifests that an index withdraws or no longer lists. They are kept.
import type { MemberStore } from '../store.ts';
import type { Positions } from './positions.ts';
import type { IngestProgress } from './progress.ts';
import type { ManifestSaver } from './save-manifests.ts';

interface MissingContext {
  remote: string;
  members: MemberStore;
  index: Positions;
  saver: Pick<ManifestSaver, 'markMissing'>;
  progress: IngestProgress;
  /** Accepts an index that lists less than half of its previous entries. */
  acceptShrunk: boolean;
}

const LOOK_UP_BATCH = 500;
/** Up to this many deletions are accepted, however short the list is, because servers are withdrawn one or a few at a time. */
const FEW_WITHDRAWN = 10;

export class MissingManifests {
  private readonly given: MissingContext;
  /** Addresses with the reason. They are marked at the end, once their number is known. */
  private readonly withdrawn = new Map<string, string | undefined>();

  constructor(given: MissingContext) {
    this.given = given;
  }

  withdraw(url: string, reason: string | undefined): void {
    this.withdrawn.set(url, reason);
  }

  /** A later page may list a withdrawn address again. */
  listAgain(url: string): void {
    this.withdrawn.delete(url);
  }

  /** Returns false, and marks nothing, if so many are missing that the index is probably broken. */
  async mark(listed: { before: number; again: number }, { isWhole }: { isWhole: boolean }): Promise<boolean> {
    const { remote, members, index, saver, progress, acceptShrunk } = this.given;
    const withdrawn = await this.presentOf([...this.withdrawn.keys()]);
    const left = isWhole ? index.usable() : (await members.countPresent(remote)) - withdrawn.length;
    const isFew = isWhole ? false : withdrawn.length <= FEW_WITHDRAWN;
    if (!acceptShrunk && !isFew && left * 2 < listed.before) {
      progress.isShrunk = true;
      progress.note(
        `The index lists ${left} of the ${listed.before} manifests that it had, so nothing was marked as missing. If the index is meant to be smaller, accept it: 'hub ingest <url> --accept-shrunk', or 'accept_shrunk' in 'POST /ingest'.`,
      );
      return false;
    }
    await saver.markMissing(withdrawn, this.withdrawn);
    // If all earlier members of a page are listed again, none is missing. Several pages may count an address twice.
    const isNoneMissing = index.pagesRead() === 1 && listed.again === listed.before;
    if (isWhole && !isNoneMissing) await this.markUnlisted();
    return true;
  }

  private async markUnlisted(): Promise<void> {
    const { remote, members, index, saver } = this.given;
    for (let after = ''; ; ) {
      const page = await members.present(remote, { after, limit: LOOK_UP_BATCH });
      await saver.markMissing(page.filter((url) => !index.positions.has(url)));
      const last = page.at(-1);
      if (last === undefined || page.length < LOOK_UP_BATCH) return;
      after = last;
    }
  }

  /** Addresses that are not marked as missing yet. */
  private async presentOf(urls: readonly string[]): Promise<string[]> {
    const { remote, members } = this.given;
    const present: string[] = [];
    for (let start = 0; start < urls.length; start += LOOK_UP_BATCH) {
      const found = await members.known(remote, urls.slice(start, start + LOOK_UP_BATCH));
      present.push(...found.filter(({ isMissing }) => !isMissing).map((member) => member.url));
    }
    return present;
  }
}
