// The version of the hub, from its package.json.
import packageJson from '../package.json' with { type: 'json' };

export const VERSION = packageJson.version;
