// Adds a link back and the theme to the library's page at /docs.

/** A link back to the hub, for visitors who followed a link to this page. */
const WAY_BACK = `
const link = Object.assign(document.createElement('a'), { href: '/', className: 'way-back', textContent: '← Catalog Hub' });
document.body.prepend(link);
`;

/** Follows the reader's choice on the hub's page (web/src/theme.ts) or the device; the library has a dark theme, but no switch. */
const THEME = `
const isDark = matchMedia('(prefers-color-scheme: dark)');
function chosen() {
  try {
    return localStorage.getItem('hub.theme');
  } catch {
    return null;
  }
}
function follow() {
  const theme = chosen();
  const dark = theme === 'dark' || (theme !== 'light' && isDark.matches);
  document.documentElement.classList.toggle('dark-mode', dark);
  document.documentElement.classList.toggle('light-mode', !dark);
}
isDark.addEventListener('change', follow);
addEventListener('storage', follow);
follow();
`;

/** Dark from the start: the script that sets the theme runs after a long one of the library. */
const STYLE = `
@media (prefers-color-scheme: dark) {
  html:not(.light-mode), html:not(.light-mode) body { background: #1c2022; }
}
.dark-mode body { background: #1c2022; }
.way-back { display: block; max-width: 72rem; margin: 0 auto; padding: 1rem 1.25rem 0; color: #12594b; font: 600 1rem/1.5 "Segoe UI", "Helvetica Neue", Helvetica, "Liberation Sans", Arial, sans-serif; }
.dark-mode .way-back { color: #86cfbb; }
html:not(.dark-mode) body { background: #faf8f3; }
.swagger-ui, .swagger-ui .info .title, .swagger-ui .opblock-tag, .swagger-ui .opblock .opblock-summary-description { font-family: "Segoe UI", "Helvetica Neue", Helvetica, "Liberation Sans", Arial, sans-serif; }
.swagger-ui .wrapper { max-width: 72rem; }
.swagger-ui .info { margin: 1rem 0; }
.swagger-ui .scheme-container { margin: 0; padding: 0; background: transparent; box-shadow: none; }
.swagger-ui .renderedMarkdown code { color: inherit; }
.swagger-ui .opblock { border-radius: 0.6rem; box-shadow: none; }
`;

/** Replaces colors of the library that have too little contrast (WCAG 2.2 AA). */
const CONTRAST = `
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #1c6bb0; }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #1a7a4c; }
.swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #0f766e; }
.swagger-ui .opblock.opblock-put .opblock-summary-method { background: #8a4b08; }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #c02828; }
.swagger-ui .btn.execute { background-color: #1c6bb0; border-color: #1c6bb0; color: #fff; }
.swagger-ui .info .title small { background: #5f6673; }
.swagger-ui .info .title small.version-stamp { background: #4d6b02; }
html:not(.dark-mode) .swagger-ui .btn.cancel { color: #c02828; }
html:not(.dark-mode) .swagger-ui .btn.authorize { color: #1a7a4c; }
html:not(.dark-mode) .swagger-ui .info .link { color: #1c6bb0; }
html:not(.dark-mode) .swagger-ui .parameter__in { color: #5c5c5c; }
html:not(.dark-mode) .swagger-ui .json-schema-2020-12-expand-deep-button { color: #5c5c5c; }
html.dark-mode .swagger-ui .opblock .opblock-section-header .try-out__btn.cancel { color: #ff8a8a; }
.swagger-ui .microlight span[style*='211, 99, 99'] { color: #f09a9a !important; }
`;

export const DOCS_LOOK = {
  title: 'Catalog Hub',
  css: [{ filename: 'hub.css', content: STYLE + CONTRAST }],
  js: [{ filename: 'hub.js', content: `{${THEME}${WAY_BACK}}` }],
};
