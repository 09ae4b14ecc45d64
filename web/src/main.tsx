import { signal } from '@preact/signals';
import { render } from 'preact';

const n = signal(1);
render(<p onClick={() => n.value++}>hello {n}</p>, document.getElementById('page')!);
