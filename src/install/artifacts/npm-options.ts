// What npm is told for every install, so that a file in the target decides neither where it writes nor what it does.
import { join } from 'node:path';

const ALWAYS = [
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--no-progress',
  '--no-update-notifier',
  '--logs-max=0',
  '--no-timing',
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=5000',
  '--save',
  '--save-exact',
  '--save-prod',
  '--no-save-bundle',
  '--package-lock',
  // As the project has it, or the newest: the first one does not say where packages are.
  '--lockfile-version=null',
  '--no-omit-lockfile-registry-resolved',
  '--loglevel=error',
  '--heading=npm',
  '--no-json',
  '--no-usage',
  '--no-dry-run',
  '--no-force',
  '--no-global',
  '--location=user',
  // Where packages go, and which of them: the same for everybody with the lockfile.
  '--install-strategy=hoisted',
  '--no-global-style',
  '--no-legacy-bundling',
  '--no-install-links',
  '--no-prefer-dedupe',
  '--bin-links',
  '--include=dev',
  '--include=optional',
  '--include=peer',
  '--umask=0',
  '--strict-ssl',
  // A file in the target could name another program.
  '--git=git',
  // What a package needs comes from the registry too: its author must not send npm to any address or file.
  '--allow-git=root',
  '--allow-file=root',
  '--allow-directory=root',
];

export function npmOptions(folder: string): string[] {
  return [...ALWAYS, `--logs-dir=${join(folder, 'npm-logs')}`];
}
