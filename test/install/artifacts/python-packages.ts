// The descriptions of packages in a virtual environment, without the packages: making a real one takes seconds.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export async function describePackages(target: string, versions: Record<string, string>): Promise<void> {
  for (const [name, version] of Object.entries(versions)) {
    const folder = join(target, '.venv/lib/python3.12/site-packages', `${name}-${version}.dist-info`);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'METADATA'), `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`);
  }
}
