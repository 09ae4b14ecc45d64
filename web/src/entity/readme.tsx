// The readme, with its pictures only when the reader asks for them.
import { hasImages, Markdown } from '../markdown/markdown.tsx';
import { address } from '../router.ts';

const keyOf = (id: string) => `hub.images.${id}`;

/** Two locks: the hub's policy opens by the address, and this one only by a click in this tab. */
function mayShowImages(id: string): boolean {
  return address.value.searchParams.get('images') === 'remote' && sessionStorage.getItem(keyOf(id)) === 'yes';
}

function allowImages(id: string): void {
  sessionStorage.setItem(keyOf(id), 'yes');
  const url = new URL(location.href);
  url.searchParams.set('images', 'remote');
  // Loaded anew, because a policy cannot change while its page is open.
  location.replace(url.href);
}

export function Readme({ id, text }: { id: string; text: string }) {
  const showImages = mayShowImages(id);
  return (
    <section class="panel" aria-labelledby="readme">
      <h2 id="readme">Readme</h2>
      {!showImages && hasImages(text) && (
        <p class="quiet images-note">
          Pictures are left out, because loading them tells other hosts that you read this.{' '}
          <button type="button" class="link-button" onClick={() => allowImages(id)}>
            Load pictures from other hosts
          </button>
        </p>
      )}
      <Markdown text={text} showImages={showImages} />
    </section>
  );
}
