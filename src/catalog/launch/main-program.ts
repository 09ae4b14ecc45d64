// Finds the artifact that a command starts, and the program of a package that is its server.
import { asText, type JsonObject } from '../../lib/json.ts';

export function isNamed(spec: JsonObject, name: string): boolean {
  return normalName(asText(spec.package) ?? asText(spec.image) ?? '') === normalName(name);
}

/** The program that is named like the package, the only one, or the only one for MCP. */
export function mainProgram(names: readonly string[], wanted: string): string | undefined {
  const short = normalName(wanted.split('/').at(-1) ?? wanted);
  const named = names.find((name) => normalName(name) === short);
  const candidates = names.length === 1 ? names : names.filter((name) => /(^|[-_])mcp([-_]|$)/i.test(name));
  return named ?? (candidates.length === 1 ? candidates[0] : undefined);
}

/** Names of images without tag and digest, of packages without extras; Python does not tell `-` from `_`. */
function normalName(name: string): string {
  return name
    .replace(/@sha256:.*$|(?<=\/[^/]*):[^/]*$|\[.*$/, '')
    .replace(/^docker\.io\/(library\/)?/, '')
    .replace(/[-_.]+/g, '-')
    .toLowerCase();
}
