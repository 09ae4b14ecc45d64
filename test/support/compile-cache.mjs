// Hundreds of test files load the same modules: they are compiled once, and not once for each process.
import module from 'node:module';

module.enableCompileCache();
