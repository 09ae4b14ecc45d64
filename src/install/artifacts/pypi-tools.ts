// The two ways to install Python packages: uv where it is there, pip elsewhere.
import type { InstallContext } from './artifact-installer.ts';
import { works } from './program.ts';
import { pipTool } from './pypi-pip.ts';
import { uvTool } from './pypi-uv.ts';
import type { PythonTool } from './pypi-venv.ts';

export async function findPythonTool(context: InstallContext): Promise<PythonTool> {
  return (await works('uv', ['--version'], context)) ? uvTool(context) : pipTool(context);
}
