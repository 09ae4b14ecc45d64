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
  // Text never becomes markup or script, whatever a manifest contains.
  'require-trusted-types-for': "'script'",
  'trusted-types': "'none'",
};

export function pagePolicy({ remoteImages }: { remoteImages: boolean }): string {
  const policy = remoteImages ? { ...OWN_PAGE, 'img-src': "'self' https:" } : OWN_PAGE;
  return Object.entries(policy)
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join('; ');
}
