// A small index of Python packages on loopback: HTML as in PEP 503, or JSON with upload times as in PEP 700.
import { createHash } from 'node:crypto';
import type { TestContext } from 'node:test';
import { type IndexServer, startIndexServer } from '../../support/servers/index-server.ts';
import { rawTarGz, rawZip } from './raw-archives.ts';

export interface PublishedWheel {
  name: string;
  version: string;
  requires?: string[];
  extras?: string[];
  module?: string;
  requiresPython?: string;
  /** The upload time. */
  uploaded?: string;
  /** Additional files, by path. */
  files?: Record<string, string>;
}

export interface PackageIndex {
  host: IndexServer;
  url: string;
  publish(wheel: PublishedWheel): { sha256: string };
  /** A source package, whose own build backend runs code and packs the module. */
  publishSource(name: string, version: string): void;
  /** Sends different bytes than the index announces. */
  replaceFile(name: string, version: string, bytes: Buffer): void;
}

export async function startPackageIndex(t: TestContext): Promise<PackageIndex> {
  const host = await startIndexServer(t);
  const pages = new Map<string, IndexFile[]>();

  function list(
    name: string,
    file: string,
    content: Buffer,
    about: Pick<PublishedWheel, 'requiresPython' | 'uploaded'> = {},
  ): string {
    const sha256 = createHash('sha256').update(content).digest('hex');
    const files = [...(pages.get(name) ?? []), { ...about, file, sha256 }];
    pages.set(name, files);
    host.put(`/files/${file}`, content);
    const { text, type } = about.uploaded ? jsonPage(name, files) : htmlPage(files);
    host.put(`/simple/${name}/`, text, { type });
    return sha256;
  }

  return {
    host,
    url: host.url('/simple/'),
    publish(wheel) {
      const { name, version, requires = [], extras = [], module = 'VALUE = 1\n', files: others = {} } = wheel;
      const folder = `${name.replaceAll('-', '_')}-${version}.dist-info`;
      const metadata = [
        'Metadata-Version: 2.1',
        `Name: ${name}`,
        `Version: ${version}`,
        ...(wheel.requiresPython ? [`Requires-Python: ${wheel.requiresPython}`] : []),
        ...extras.map((extra) => `Provides-Extra: ${extra}`),
        ...requires.map((requirement) => `Requires-Dist: ${requirement}`),
        '',
        '',
      ].join('\n');
      const files = {
        [`${name.replaceAll('-', '_')}.py`]: module,
        [`${folder}/METADATA`]: metadata,
        [`${folder}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
        ...others,
      };
      const record = `${Object.entries(files)
        .map(([path, text]) => `${path},sha256=${digest(text)},${Buffer.byteLength(text)}`)
        .join('\n')}\n${folder}/RECORD,,\n`;
      const archive = rawZip(
        Object.entries({ ...files, [`${folder}/RECORD`]: record }).map(([path, content]) => ({ name: path, content })),
      );
      return { sha256: list(name, fileName(name, version), archive, wheel) };
    },
    publishSource(name, version) {
      const files = {
        'pyproject.toml':
          '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n' +
          `[project]\nname = "${name}"\nversion = "${version}"\n`,
        'backend.py': buildBackend(name, version),
        'PKG-INFO': `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
      };
      list(
        name,
        `${name}-${version}.tar.gz`,
        rawTarGz(Object.entries(files).map(([path, content]) => ({ name: `${name}-${version}/${path}`, content }))),
      );
    },
    replaceFile: (name, version, bytes) => host.put(`/files/${fileName(name, version)}`, bytes),
  };
}

interface IndexFile extends Pick<PublishedWheel, 'requiresPython' | 'uploaded'> {
  file: string;
  sha256: string;
}

function htmlPage(files: readonly IndexFile[]) {
  const links = files.map(({ file, sha256, requiresPython = '' }) => {
    const needs =
      requiresPython && ` data-requires-python="${requiresPython.replaceAll('>', '&gt;').replaceAll('<', '&lt;')}"`;
    return `<a href="../../files/${file}#sha256=${sha256}"${needs}>${file}</a><br>`;
  });
  return { text: `<!doctype html><html><body>${links.join('\n')}</body></html>`, type: 'text/html' };
}

function jsonPage(name: string, files: readonly IndexFile[]) {
  const listed = files.map(({ file, sha256, requiresPython, uploaded }) => ({
    filename: file,
    url: `../../files/${file}`,
    hashes: { sha256 },
    'requires-python': requiresPython,
    'upload-time': uploaded,
  }));
  const text = JSON.stringify({ meta: { 'api-version': '1.1' }, name, files: listed });
  return { text, type: 'application/vnd.pypi.simple.v1+json' };
}

function fileName(name: string, version: string): string {
  return `${name.replaceAll('-', '_')}-${version}-py3-none-any.whl`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function buildBackend(name: string, version: string): string {
  return `import zipfile
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    file, info = "${fileName(name, version)}", "${name}-${version}.dist-info"
    with zipfile.ZipFile(wheel_directory + "/" + file, "w") as wheel:
        wheel.writestr("${name}.py", "VALUE = 'built'\\n")
        wheel.writestr(info + "/METADATA", "Metadata-Version: 2.1\\nName: ${name}\\nVersion: ${version}\\n")
        wheel.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "/RECORD", "${name}.py,,\\n")
    return file
`;
}
