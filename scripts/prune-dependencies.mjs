// Deletes files of dependencies that are for other platforms or compilers: about 310 MB. Plain JavaScript, because npm may run
// it on a Node that cannot run TypeScript.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** `modules` is a `node_modules` folder; packages that are not in it are skipped. */
export async function pruneDependencies(modules, { platform, arch }) {
  const runtimes = join(modules, 'onnxruntime-node', 'bin');
  for (const version of await namesIn(runtimes)) {
    await keepOnly(join(runtimes, version), platform);
    await keepOnly(join(runtimes, version, platform), arch);
  }
  for (const name of await namesIn(modules))
    if (/^node-(linux|darwin|win)-/.test(name))
      await rm(join(modules, name, 'include'), { recursive: true, force: true });
}

/** Deletes nothing if `wanted` is missing, because the layout is unknown then. */
async function keepOnly(folder, wanted) {
  const names = await namesIn(folder);
  if (!names.includes(wanted)) return;
  for (const name of names) if (name !== wanted) await rm(join(folder, name), { recursive: true });
}

async function namesIn(folder) {
  return await readdir(folder).catch(() => []);
}
