// Replaces the hub's own Node in the package that contains only the command line and the client, which runs on older versions.
/** The first whose `node:sqlite` needs no flag and closes databases for `using`. */
export const OLDEST_NODE = '22.15';
export const WHERE_TO_GET_IT = 'Install it from nodejs.org.';
export const findRuntime = () => undefined;

// Node 22 warns about its SQLite, which locks a folder during an install.
const { emitWarning } = process;
process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
  if (!String(warning).startsWith('SQLite is an experimental feature'))
    Reflect.apply(emitWarning, process, [warning, ...rest]);
};
