// The content security policy of the hub's pages: they may only run their own scripts and call their own hub.

const OWN_PAGE = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self'",
  'font-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};
/** Text never becomes markup or script, whatever a manifest contains. */
const NO_MARKUP = { 'require-trusted-types-for': "'script'", 'trusted-types': "'none'" };

/** For the page of the API documentation, whose icons are in its style sheet. */
export const DOCS_POLICY = { ...OWN_PAGE, 'img-src': "'self' data:" };

export function pagePolicy({ remoteImages }: { remoteImages: boolean }): string {
  const images = remoteImages ? { 'img-src': "'self' https:" } : {};
  return Object.entries({ ...OWN_PAGE, ...images, ...NO_MARKUP })
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join('; ');
}
