// Starts the page.
import { render } from 'preact';
import { readSettings } from './api/settings.ts';
import { App } from './app.tsx';
import { startRouter } from './router.ts';
import { startSearch } from './search/search-state.ts';
import './styles/base.css';
import './styles/controls.css';
import './styles/search.css';
import './styles/entity.css';
import './styles/operations.css';

startRouter();
startSearch();
void readSettings();
const place = document.getElementById('page');
if (place) render(<App />, place);
