// Loaded first: enables the compile cache, so that processes share compiled code.
import module from 'node:module';

module.enableCompileCache();
