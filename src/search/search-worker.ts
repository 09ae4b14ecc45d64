// Runs in a worker thread: the index of the whole catalog, so that no query ever holds up the main thread.
import { createSearchTasks } from './search-tasks.ts';

export default createSearchTasks();
