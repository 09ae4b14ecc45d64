// Reads the last stage of a Dockerfile: the part that becomes the image.

export interface Image {
  /** Name of the base image. */
  from: string;
  env: Record<string, string>;
  workdir: string;
  user: string;
  volumes: string[];
  /** Packages that apt-get installs. */
  packages: string[];
  /** Commands of RUN lines, in order, without apt. */
  commands: string[];
  /** Sources and destination of COPY lines; `stage` when they come from another stage. */
  copies: { stage?: string; sources: string[]; to: string }[];
  /** The command of a container. */
  command: string[];
}

export function readDockerfile(text: string): Image {
  const lines = instructionsOf(text);
  const last = lines.findLastIndex(([name]) => name === 'FROM');
  const image: Image = {
    ...{ from: lines[last]?.[1].split(/\s+/)[0] ?? '', env: {}, workdir: '/', user: 'root' },
    ...{ volumes: [], packages: [], commands: [], copies: [], command: [] },
  };
  const entry: string[] = [];
  for (const [name, value] of lines.slice(last + 1)) {
    if (name === 'ENV') Object.assign(image.env, readEnv(value));
    else if (name === 'WORKDIR') image.workdir = value;
    else if (name === 'USER') image.user = value;
    else if (name === 'VOLUME') image.volumes.push(value);
    else if (name === 'ENTRYPOINT' || name === 'CMD') entry.push(...(JSON.parse(value) as string[]));
    else if (name === 'COPY') image.copies.push(readCopy(value));
    else if (name === 'RUN') readRun(value, image);
    else if (!['LABEL', 'EXPOSE', 'HEALTHCHECK'].includes(name))
      throw new Error(`Dockerfile: ${name} is not known here`);
  }
  return { ...image, command: entry };
}

/** Handles comments and continued lines as Docker does. */
function instructionsOf(text: string): [string, string][] {
  const lines = text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n');
  return lines.filter((line) => line.trim() !== '').map((line) => line.split(/\s+(.*)/s, 2) as [string, string]);
}

function readEnv(value: string): Record<string, string> {
  return Object.fromEntries(value.split(/\s+/).map((pair) => pair.split(/=(.*)/s, 2) as [string, string]));
}

function readCopy(value: string): Image['copies'][number] {
  const words = value.split(/\s+/);
  const stage = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  const paths = words.filter((word) => !word.startsWith('--'));
  return { ...(stage ? { stage } : {}), sources: paths.slice(0, -1), to: paths.at(-1) ?? '' };
}

function readRun(value: string, image: Image): void {
  for (const command of value.split(/\s+&&\s+/)) {
    const [program, action, ...words] = command.trim().split(/\s+/);
    if (program === 'rm' && command.includes('/var/lib/apt/lists')) continue;
    if (program !== 'apt-get') image.commands.push(command.trim());
    else if (action === 'install') image.packages.push(...words.filter((word) => !word.startsWith('-')));
  }
}
