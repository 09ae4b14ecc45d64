// For a server whose manifest has no command: what its artifact is usually run with. Needs nothing of Node: the page reads it alike.
import { asObject, asText, type JsonObject } from '../../lib/json.ts';
import { installerKindOf } from '../artifacts/installer-kind.ts';

/** From the same registry that it is installed from; empty when there is no usual command. */
export function usualCommand({ kind, spec }: JsonObject): string[] {
  const fields = asObject(spec);
  switch (installerKindOf(asText(kind) ?? '', fields)) {
    case 'pypi':
      return uvx(fields);
    case 'npm':
      return npx(fields);
    case 'oci':
      return dockerRun(fields);
    default:
      return [];
  }
}

function uvx({ package: name, version, index_url, registry_url }: JsonObject): string[] {
  const written = asText(name);
  if (!written) return [];
  const index = asText(index_url) ?? asText(registry_url);
  const wanted = asText(version)?.replace(/^(==|v(?=\d)|latest$|\*$)/, '') ?? '';
  const isExact = /^\d/.test(wanted);
  const command = /^[\w.-]+/.exec(written)?.[0] ?? written;
  // Only plain names and versions can be run as they are; a range or an extra is said apart from the command.
  const what =
    command === written && (isExact || wanted === '')
      ? [`${written}${isExact ? `==${wanted}` : ''}`]
      : ['--from', `${written}${isExact ? '==' : ''}${wanted}`, command];
  return ['uvx', ...(index ? ['--default-index', index] : []), ...what];
}

function npx({ package: name, version, registry_url }: JsonObject): string[] {
  const written = asText(name);
  if (!written) return [];
  const registry = asText(registry_url);
  const wanted = asText(version);
  return ['npx', '-y', ...(registry ? [`--registry=${registry}`] : []), `${written}${wanted ? `@${wanted}` : ''}`];
}

function dockerRun({ image, package: name, tag, digest }: JsonObject): string[] {
  const written = asText(image) ?? asText(name);
  if (!written) return [];
  const hasOwn = /[:@]/.test(written.slice(written.lastIndexOf('/') + 1));
  const part = asText(digest) ? `@${asText(digest)}` : asText(tag) ? `:${asText(tag)}` : '';
  return ['docker', 'run', '-i', '--rm', `${written}${hasOwn ? '' : part}`];
}
