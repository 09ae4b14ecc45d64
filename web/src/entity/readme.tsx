// The readme; its pictures are loaded only on request.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { readMarkdown } from '../markdown/document.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { address, goToHeading, hashOf } from '../router.ts';
import { RawText } from './raw-text.tsx';

const asksForImages = (url: URL | Location) => new URLSearchParams(url.search).get('images') === 'remote';

/** From the address that the page was loaded with, because the content policy does not change later. */
const doesPolicyAllow = asksForImages(location);

/**
 * Two conditions: the address makes the hub's content policy allow pictures, and the reader has clicked. The click is stored
 * in the history state, which links cannot set, and which works even if storage is blocked.
 */
function mayShowImages(): boolean {
  return doesPolicyAllow && asksForImages(address.value) && history.state?.showsImages === true;
}

function allowImages(): void {
  const url = new URL(location.href);
  url.searchParams.set('images', 'remote');
  history.replaceState({ ...history.state, showsImages: true }, '', url);
  // Reloaded, because the content policy of an open page cannot change.
  location.reload();
}

/** Limits how far readers must scroll to get past a long readme. */
const FIRST_BLOCKS = 40;

interface ReadmeProps {
  text: string;
  /** The readme's repository, if known. */
  repository: string | undefined;
}

export function Readme({ text, repository }: ReadmeProps) {
  const read = useMemo(() => readMarkdown(text, repository), [text, repository]);
  const isUnfolded = useSignal(false);
  const isFolded = read.isLong && read.blocks.length > FIRST_BLOCKS && !isUnfolded.value;
  const showImages = mayShowImages();
  const toHeading = (id: string) => {
    isUnfolded.value = true;
    goToHeading(id);
  };
  // Follows a link to a heading of the readme.
  useEffect(() => {
    const id = location.hash && [...read.headingIds.values()].find((each) => hashOf(each) === location.hash);
    if (id) toHeading(id);
  }, [read]);
  return (
    <section class="panel" aria-labelledby="readme">
      <h2 id="readme">Readme</h2>
      {!showImages && read.hasImages && (
        <p class="quiet images-note">
          Pictures are left out, because loading them tells other hosts that you read this.{' '}
          <button type="button" class="link-button" onClick={allowImages}>
            Load pictures from other hosts
          </button>
        </p>
      )}
      <Markdown
        blocks={isFolded ? read.blocks.slice(0, FIRST_BLOCKS) : read.blocks}
        showImages={showImages}
        isLong={read.isLong}
        headingIds={read.headingIds}
        onHeading={toHeading}
        repository={repository}
      />
      {isFolded && (
        <button
          type="button"
          class="button readme-more"
          onClick={() => {
            isUnfolded.value = true;
          }}
        >
          Show more of the readme
        </button>
      )}
      {read.isCut && <RawText text={text} />}
    </section>
  );
}
