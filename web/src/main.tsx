// Starts the page.
import { render } from 'preact';
import { readSettings } from './api/settings.ts';
import { App } from './app.tsx';
import { whenPainted } from './first-paint.ts';
import { startRouter, view } from './router.ts';
import { startSearch, whenAnswered } from './search/search-state.ts';
import './styles/base.css';
import './styles/controls.css';
import './styles/search.css';
import './styles/entity.css';
import './styles/operations.css';
import './styles/governance.css';

/** A preloaded list arrives within this time; drawing the page without it first would only delay it. */
const LONGEST_WAIT_MS = 60;

startRouter();
startSearch();
if (view.value.name === 'search') await whenAnswered(LONGEST_WAIT_MS);
const root = document.getElementById('page');
if (root) render(<App />, root);
await whenPainted();
void readSettings();
