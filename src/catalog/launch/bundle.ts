// Reads the manifest.json of an MCP bundle: how its server is started, and which settings it needs.
import { z } from 'zod';
import { parseJson } from '../../lib/json.ts';
import { type Variable, variableFor } from './launch-form.ts';

/** Texts may contain references such as `${__dirname}`, `${HOME}` and `${user_config.api_key}`. */
export interface Bundle {
  command: string;
  args: string[];
  env: Record<string, string>;
  settings: BundleSetting[];
}

/** A `user_config` value that the user of a bundle may choose. */
export interface BundleSetting {
  key: string;
  /** The server's environment variable that contains exactly this value. */
  variable: string | undefined;
  /** Multiple values are separated by colons. May contain references to folders. */
  fallback: string;
  isRequired: boolean;
  isMultiple: boolean;
  isSecret: boolean;
  description: string | undefined;
}

/** Matches a reference and captures its name. */
export const REFERENCE = /\$\{([^{}]+)\}/;
const SETTING = 'user_config.';
/** The referenced folders, relative to the user's home folder. */
export const HOME_FOLDERS: Readonly<Record<string, string>> = {
  HOME: '',
  DESKTOP: '/Desktop',
  DOCUMENTS: '/Documents',
  DOWNLOADS: '/Downloads',
};

const VariableName = z.string().regex(/^[A-Za-z_]\w*$/);
const Command = z.object({
  command: z.string(),
  args: z.array(z.string()),
  env: z.record(VariableName, z.string()),
});
const Value = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const Setting = z.object({
  title: z.string().optional(),
  description: z.string().optional(),
  required: z.boolean().default(false),
  sensitive: z.boolean().default(false),
  multiple: z.boolean().default(false),
  default: z
    .union([Value, z.array(Value).transform((values) => values.join(':'))])
    .nullish()
    .transform((value) => value ?? ''),
});
const BundleManifest = z.object({
  server: z.object({
    mcp_config: Command.partial({ args: true, env: true }).extend({
      platform_overrides: z.record(z.string(), Command.partial()).default({}),
    }),
  }),
  user_config: z.record(z.string(), Setting).default({}),
});

/** Undefined when the manifest does not say how the server is started. */
export function readBundle(manifest: string, platform: string): Bundle | undefined {
  const read = BundleManifest.safeParse(parseJson(manifest));
  if (!read.success) return undefined;
  const { platform_overrides: overrides, ...common } = read.data.server.mcp_config;
  const own = Object.hasOwn(overrides, platform) ? overrides[platform] : {};
  // Merges the settings of all platforms, so that a setting has the same name on each.
  const environments = [common, ...Object.values(overrides)].flatMap(({ env = {} }) => Object.entries(env));
  const settings = Object.entries(read.data.user_config).map(([key, setting]): BundleSetting => {
    const [variable] = environments.find(([, value]) => value === `\${${SETTING}${key}}`) ?? [];
    const { title, description = title, required: isRequired, sensitive: isSecret, multiple: isMultiple } = setting;
    return { key, variable, fallback: setting.default, isRequired, isMultiple, isSecret, description };
  });
  return { args: [], env: {}, ...common, ...own, settings };
}

/** The setting that a reference names. */
export function findSetting({ settings }: Bundle, name: string): BundleSetting | undefined {
  return settings.find(({ key }) => name === SETTING + key);
}

/** The environment variable from which a launcher reads the setting. */
export function settingVariable({ key, variable }: BundleSetting, server: string): string {
  return variable ?? variableFor(key, { name: server, slug: server });
}

/** The variables in the client's entry for a bundle: defaults that the user may change, and values that the user must provide. */
export function bundleVariables({ settings }: Bundle, server: string): Variable[] {
  return settings.flatMap((setting) => {
    const { fallback, isRequired, isSecret, description } = setting;
    const name = settingVariable(setting, server);
    // Folders differ between machines, so the launcher resolves them.
    const value = isSecret || fallback === '' || REFERENCE.test(fallback) ? undefined : fallback;
    if (value === undefined && !(isRequired && fallback === '')) return [];
    return [{ name, from: name, value, isRequired, ...(description ? { description } : {}) }];
  });
}
