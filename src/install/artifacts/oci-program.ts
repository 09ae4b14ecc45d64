// Programs that pull images, run without the logins of whoever runs the hub.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { pullCause } from './oci-causes.ts';
import { outputEnd, runProgram } from './program.ts';

const TIMEOUT_MS = 60 * 60_000;

/** What it wrote; all of it up to `mostOutputBytes`, when that is named, else the end. @throws InstallError */
export async function imageProgram(
  name: string,
  args: string[],
  context: InstallContext,
  { mostOutputBytes }: { mostOutputBytes?: number } = {},
): Promise<string> {
  const env = await withoutLogins(context);
  const { exitCode, stdout, stderr } = await runProgram(
    {
      program: name,
      args,
      cwd: context.workDir,
      env,
      // docker leaves the pulling to its engine, which no proxy of ours reaches.
      isGuarded: name !== 'docker',
      timeoutMs: TIMEOUT_MS,
      mostOutputBytes,
      whenMissing: `${name} is gone from the machine of the hub; try again.`,
    },
    context,
  );
  if (exitCode === 0) return stdout;
  // Where programs work is nothing for a report.
  const output = outputEnd(stderr.replaceAll(`${context.workDir}/`, '').replaceAll(context.workDir, '.'));
  throw new InstallError(`${name} could not pull the image: ${pullCause(output)}.`, { extra: { output } });
}

/** Whoever runs the hub may be logged in somewhere; a manifest gets only what is public. */
export async function withoutLogins({ workDir }: InstallContext): Promise<Record<string, string>> {
  const folder = join(workDir, 'no-logins');
  const authFile = join(folder, 'config.json');
  await mkdir(folder, { recursive: true });
  await writeFile(authFile, '{}');
  return { DOCKER_CONFIG: folder, REGISTRY_AUTH_FILE: authFile };
}
