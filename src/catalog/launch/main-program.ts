// Finds the artifact that a command starts, and the program of a package that runs the server.
import { asText, type JsonObject } from '../../lib/json.ts';

export function isNamed(spec: JsonObject, name: string): boolean {
  return normalName(asText(spec.package) ?? asText(spec.image) ?? '') === normalName(name);
}

/** The program named like the package, the only program, or the only one for MCP. */
export function mainProgram(names: readonly string[], wanted: string): string | undefined {
  const short = normalName(wanted.split('/').at(-1) ?? wanted);
  const named = names.find((name) => normalName(name) === short);
  const candidates = names.length === 1 ? names : names.filter((name) => /(^|[-_])mcp([-_]|$)/i.test(name));
  return named ?? (candidates.length === 1 ? candidates[0] : undefined);
}

/** Drops an image's tag and digest and a package's extras; Python treats `-` and `_` alike. */
function normalName(name: string): string {
  return name
    .replace(/@sha256:.*$|(?<=\/[^/]*):[^/]*$|\[.*$/, '')
    .replace(/^docker\.io\/(library\/)?/, '')
    .replace(/[-_.]+/g, '-')
    .toLowerCase();
}
