// Run by `npm ci`: builds the page. Plain JavaScript, because npm may run it on a Node that cannot read TypeScript.

const vite = await import('vite').catch(() => undefined);
if (vite) await vite.build({ logLevel: 'warn' });
else console.log('The page is not built, for vite is not installed: production installs leave it out.');
