// Converts a package of an MCP registry to the command of a registration.
import { launchPackage } from '../catalog/launch/registry-package.ts';
import type { JsonObject } from '../lib/json.ts';
import { fillGaps } from '../lib/secrets/secret-address.ts';

export interface RegistryCommand {
  /** Values that users must fill in appear as `<name>`. Empty if no program is known to run it. */
  cmd: string[];
  /** Values that users must fill in appear as `${NAME}`. */
  env: Record<string, string>;
}

export function commandOf(pack: JsonObject): RegistryCommand {
  const launch = launchPackage(pack);
  if (launch.kind !== 'command') return { cmd: [], env: {} };
  const args = launch.args.map((word) => fillGaps(word, ({ name }) => `<${name}>`));
  const env = launch.env.map(({ name, value }) => [name, value ?? `\${${name}}`]);
  return { cmd: [launch.command, ...args], env: Object.fromEntries(env) };
}
