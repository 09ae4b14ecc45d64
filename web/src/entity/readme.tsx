// The readme, with its pictures only when the reader asks for them.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { readMarkdown } from '../markdown/document.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { address, goToPlace, hashOf } from '../router.ts';
import { RawText } from './raw-text.tsx';

const asksForImages = (url: URL | Location) => new URLSearchParams(url.search).get('images') === 'remote';

/** The policy that this page was loaded with: it does not change when the address does. */
const doesPolicyAllow = asksForImages(location);

/**
 * Two locks: the hub's policy opens by the address, and this one only by a click. The click is noted in the tab's
 * history, which no link can write to, and which is there also where nothing may be stored.
 */
function mayShowImages(): boolean {
  return doesPolicyAllow && asksForImages(address.value) && history.state?.showsImages === true;
}

function allowImages(): void {
  const url = new URL(location.href);
  url.searchParams.set('images', 'remote');
  history.replaceState({ ...history.state, showsImages: true }, '', url);
  // The page is loaded again, because its content policy cannot change while it is open.
  location.reload();
}

/** What comes after the readme must not be a day's walk away. */
const FIRST_BLOCKS = 40;

interface ReadmeProps {
  text: string;
  /** Where it comes from, if that is known. */
  repository: string | undefined;
}

export function Readme({ text, repository }: ReadmeProps) {
  const read = useMemo(() => readMarkdown(text, repository), [text, repository]);
  const isUnfolded = useSignal(false);
  const isFolded = read.isLong && read.blocks.length > FIRST_BLOCKS && !isUnfolded.value;
  const showImages = mayShowImages();
  const toPlace = (id: string) => {
    isUnfolded.value = true;
    goToPlace(id);
  };
  // For links to a heading in the readme.
  useEffect(() => {
    const id = location.hash && [...read.places.values()].find((each) => hashOf(each) === location.hash);
    if (id) toPlace(id);
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
        places={read.places}
        onPlace={toPlace}
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
