// The version of the hub, as its package states it.
import packageJson from '../package.json' with { type: 'json' };

export const VERSION = packageJson.version;
