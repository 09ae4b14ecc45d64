// What an entity installs and runs, as its manifest says. Uses no Node module, so that the page can import it.
import type { JsonObject } from '../../lib/json.ts';
import { shownCommandLine } from '../../lib/secrets/secret-words.ts';
import type { EntityRecord } from '../contract.ts';
import { parseReference } from '../uid.ts';
import { launchOf } from './launch.ts';
import { type Launch, launchText, type Named } from './launch-form.ts';
import { artifactsOf } from './package-artifact.ts';

export interface Contents {
  named: Named;
  launch: Launch;
  /** Includes those that the manifest lists only as packages. */
  artifacts: JsonObject[];
  /** The command that starts a local server, without the values of its variables and without secrets. */
  command: string | null;
}

export function contentsOf(
  { id, name, artifacts, mcp_registration: mcpRegistration }: EntityRecord,
  document: JsonObject,
): Contents {
  const named = { name, slug: parseReference(id)?.slug ?? name };
  const launch = launchOf({ document, mcpRegistration, artifacts, ...named });
  return {
    named,
    launch,
    artifacts: artifactsOf({ ...document, artifacts }),
    command: launch.kind === 'command' ? shownCommandLine(launchText(launch) ?? '') : null,
  };
}
