// Loaded before anything else: turns on the compile cache, so that processes share compiled code.
import module from 'node:module';

module.enableCompileCache();
