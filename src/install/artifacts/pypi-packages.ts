// Python packages with their versions and digests: as installers take them, and as the lockfile keeps them.
import type { Dependency } from './artifact-installer.ts';
import { normalName } from './pypi-spec.ts';

export interface PinnedPackage {
  name: string;
  version: string;
  /** `sha256:…`; any of them is right: a version has a file for each platform. */
  hashes: readonly string[];
}

/** For `--require-hashes`: these and no others. */
export function pinnedRequirements(packages: readonly PinnedPackage[]): string {
  return packages
    .map(({ name, version, hashes }) =>
      [`${name}==${version}`, ...hashes.map((hash) => `--hash=${hash}`)].join(' \\\n    '),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** What `uv pip compile --generate-hashes` writes. */
export function readPinned(text: string): PinnedPackage[] {
  const lines = text.replaceAll('\\\n', ' ').split('\n');
  return lines.flatMap((line) => {
    const [, name, version] = /^([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?==([^\s;]+)/.exec(line) ?? [];
    const hashes = [...line.matchAll(/--hash=(sha256:[0-9a-f]{64})/g)].map(([, hash]) => hash as string);
    return name && version ? [{ name: normalName(name), version, hashes: hashes.sort() }] : [];
  });
}

export function toLocked({ name, version, hashes }: PinnedPackage): Dependency {
  return { resolved: `${name}==${version}`, integrity: hashes.length > 0 ? hashes.join(' ') : null };
}

/** Undefined when the lockfile holds something else than a version with its digests. */
export function fromLocked({ resolved, integrity }: { resolved: string | null; integrity: string | null }) {
  const [, name, version] = /^([A-Za-z0-9][\w.-]*)==([\w.!+-]+)$/.exec(resolved ?? '') ?? [];
  const hashes = (integrity ?? '').split(' ').filter((hash) => /^sha256:[0-9a-f]{64}$/.test(hash));
  return name && version && hashes.length > 0 ? { name: normalName(name), version, hashes } : undefined;
}
