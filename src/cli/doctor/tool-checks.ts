// Checks the programs that installs run.
import type { World } from '../../lib/world.ts';
import type { Check, Finding } from './finding.ts';

/** One program of each list is enough. */
const TOOLS: readonly { subject: string; programs: readonly string[]; use: string }[] = [
  { subject: 'git', programs: ['git'], use: 'git artifacts' },
  { subject: 'python', programs: ['uv', 'python3'], use: 'Python packages' },
  { subject: 'npm', programs: ['npm'], use: 'npm packages' },
];
/** Clients of container engines, with a command that needs a running engine. */
const ENGINES = [
  { program: 'docker', args: ['version', '--format', '{{.Server.Version}}'] },
  { program: 'podman', args: ['info', '--format', '{{.Version.Version}}'] },
];
const TIMEOUT_MS = 10_000;

export function toolChecks(run: World['run']): Check[] {
  return [
    ...TOOLS.map((tool) => ({ subject: tool.subject, look: () => toolFinding(tool, run) })),
    { subject: 'containers', look: () => containerFinding(run) },
  ];
}

async function toolFinding({ programs, use }: (typeof TOOLS)[number], run: World['run']): Promise<Finding> {
  const versions = await Promise.all(programs.map((program) => versionOf(program, run)));
  const found = versions.filter((version) => version !== undefined);
  if (found.length > 0) return { outcome: 'ok', found: found.join('; ') };
  const advice = `Needed only for ${use}: install ${programs.join(' or ')}.`;
  return { outcome: 'warning', found: `no working ${programs.join(' or ')} on the PATH`, advice };
}

/** Only an engine pulls and runs images; skopeo only looks up digests. */
async function containerFinding(run: World['run']): Promise<Finding> {
  const engines = await Promise.all(ENGINES.map((engine) => engineState(engine, run)));
  const skopeo = await versionOf('skopeo', run);
  const found = [...engines.map((engine) => engine?.found), skopeo].filter((part) => part !== undefined);
  if (engines.some((engine) => engine?.answers)) return { outcome: 'ok', found: found.join('; ') };
  const nextStep = engines.some(Boolean) ? 'start the engine' : 'install docker or podman';
  const advice = `Only the digest of container images is recorded; to pull and run them, ${nextStep}.`;
  return { outcome: 'warning', found: found.join('; ') || 'no docker, podman or skopeo on the PATH', advice };
}

async function engineState(
  { program, args }: (typeof ENGINES)[number],
  run: World['run'],
): Promise<{ answers: boolean; found: string } | undefined> {
  const client = await versionOf(program, run);
  if (client === undefined) return undefined;
  const engine = await firstLine(program, args, run);
  return engine
    ? { answers: true, found: `${client}, engine ${engine}` }
    : { answers: false, found: `${client}, but no engine responds` };
}

async function versionOf(program: string, run: World['run']): Promise<string | undefined> {
  const line = await firstLine(program, ['--version'], run);
  if (line === undefined) return undefined;
  return line.toLowerCase().includes(program.replace(/\d$/, '')) ? line : `${program} ${line}`;
}

/** The version that the program prints; undefined if it does not work. */
async function firstLine(program: string, args: string[], run: World['run']): Promise<string | undefined> {
  const request = { program, args, cwd: process.cwd(), timeoutMs: TIMEOUT_MS };
  const { exitCode, stdout } = await run(request).catch(() => ({ exitCode: 1, stdout: '' }));
  return exitCode === 0 ? (stdout.trim().split('\n')[0] ?? '') : undefined;
}
