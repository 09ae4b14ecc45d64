// Loaded before anything else: what was compiled, and stripped of its types, for one process is kept for the next.
import module from 'node:module';

module.enableCompileCache();
