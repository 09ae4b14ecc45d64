// Renders the shell scripts in `.hub/bin`.
import { type Bundle, findSetting, HOME_FOLDERS, REFERENCE, settingVariable } from '../catalog/launch/bundle.ts';
import type { InstalledArtifact } from './artifacts/place.ts';
import type { LockedEntity, LockedLauncher } from './contract.ts';

type Artifact = Pick<InstalledArtifact, 'path' | 'programs' | 'bundle'>;

/** Starts a program of the artifact, a command in its folder, a bundle's command for this platform, or the engine of an image. */
export function launcherText(
  { program, command }: Pick<LockedLauncher, 'program' | 'command'>,
  { path, programs = [], bundle }: Artifact,
  entity: Pick<LockedEntity, 'name'>,
): string {
  if (path === null) return `${HEAD}${ENGINE}exec docker "$@"\n`;
  const folder = `"$root"/${quoted(path)}`;
  const found = programs.find(({ name }) => name === program);
  const start = [found?.interpreter, found?.file].flatMap((file) => (file ? [`${folder}/${quoted(file)}`] : []));
  const lines = [
    ...(found ? [] : [`cd -- ${folder} || exit 1`]),
    ...(bundle && !program && !command
      ? bundleLines(bundle, folder, entity.name)
      : [`exec ${[...start, ...(command ?? []).map(quoted)].join(' ')} "$@"`]),
  ];
  return `${HEAD}root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd -P) || exit 1
${lines.join('\n')}
`;
}

const HEAD = '#!/bin/sh\n# Written by Catalog Hub. The next install writes it again.\n';
/** Runs images with podman if docker is missing or not running. */
const ENGINE = 'if command -v podman >/dev/null 2>&1; then docker version >/dev/null 2>&1 || exec podman "$@"; fi\n';

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

const NOT_SET = quoted('is not set, and the server needs it');

/** Settings come from the environment. A value that needs an unset optional setting is omitted, together with its option. */
function bundleLines(bundle: Bundle, folder: string, server: string): string[] {
  const read = (text: string) => readText(text, { bundle, folder, server });
  const settings = bundle.settings.flatMap((setting) => {
    const { fallback, isRequired } = setting;
    const variable = settingVariable(setting, server);
    if (fallback) return `${variable}=\${${variable}:-${read(fallback).shell}}`;
    return isRequired ? `: \${${variable}:?${NOT_SET}}` : [];
  });
  const environment = Object.entries(bundle.env).map(([name, text]) => {
    const { shell, needs } = read(text);
    return [...needs.map((need) => `[ -n "$${need}" ]`), `export ${name}=${shell}`].join(' && ');
  });
  const words = [bundle.command, ...bundle.args].map((text, index) => {
    const value = bundle.args[index] ?? '';
    const { shell, list, needs } = read(text);
    const belongsToValue = /^--?\w[^=]*$/.test(text) && !value.startsWith('-');
    const conditions = belongsToValue ? read(value).needs : needs;
    return conditions.reduce((inner, need) => `\${${need}:+${inner}}`, list ?? shell);
  });
  // Lists are split only at colons.
  return [...settings, ...environment, 'IFS=:', 'set -f', `exec ${words.join(' ')} "$@"`];
}

function readText(text: string, { bundle, folder, server }: { bundle: Bundle; folder: string; server: string }) {
  const needs: string[] = [];
  let list: string | undefined;
  const parts = text.split(REFERENCE).map((part, index) => {
    if (index % 2 === 0) return part && quoted(part);
    if (part === '__dirname') return folder;
    if (part === '/' || part === 'pathSeparator') return '/';
    if (Object.hasOwn(HOME_FOLDERS, part)) return `"$HOME"${HOME_FOLDERS[part]}`;
    const setting = findSetting(bundle, part);
    if (!setting) return quoted(`\${${part}}`);
    const variable = settingVariable(setting, server);
    if (!setting.isRequired && !setting.fallback) needs.push(variable);
    // Unquoted, so that each value becomes a word.
    if (setting.isMultiple && text === `\${${part}}`) list = `$${variable}`;
    return `"$${variable}"`;
  });
  return { shell: parts.join('') || "''", list, needs };
}
