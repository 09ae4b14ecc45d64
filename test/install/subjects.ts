// Entities to install, for tests that need no catalog.
import { entityFromManifest } from '../../src/catalog/entity.ts';
import { artifactsOf } from '../../src/catalog/launch/package-artifact.ts';
import type { InstallPlan, InstallRequest } from '../../src/install/contract.ts';
import { planInstall } from '../../src/install/plan.ts';
import type { InstallSubject } from '../../src/install/subject.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { RunError } from '../../src/lib/run.ts';
import { aManifest } from '../support/builders.ts';

export function aSubject(fields: JsonObject = {}): InstallSubject {
  const document = aManifest(fields);
  const entity = entityFromManifest({ document });
  return {
    ...entity,
    title: entity.title ?? entity.name,
    description: String(document.description),
    document,
    manifestUrl: `http://hub.test/catalog/manifest/${entity.uid}`,
    artifacts: artifactsOf(document),
    adapters: (document.adapters ?? []) as JsonObject[],
    warnings: [],
    isInCatalog: true,
  };
}

/** Its plan for an empty target on a machine without programs. */
export async function aPlan(subject: InstallSubject, request: Partial<InstallRequest> = {}): Promise<InstallPlan> {
  const { plan } = await planInstall({
    subject,
    request: { frozen: false, ...request },
    known: undefined,
    others: [],
    context: { stagingDir: '/', signal: AbortSignal.timeout(60_000), run: noPrograms } as never,
  });
  return plan;
}

async function noPrograms(): Promise<never> {
  throw new RunError('missing', 'it is not installed');
}

/** Texts that would end a string, comment, block or line. */
export const HOSTILE_TEXTS = [
  '"; import os #',
  '"""; import os; """',
  "'''\nimport os\n'''",
  '\\',
  '\\"',
  '\\u0022',
  'a\nimport os',
  'a\r\nb',
  'a\u2028b\u2029c',
  '\u0000',
  '\u001b[31m',
  '\ud83d\ude00 emoji',
  'half \ud83d',
  '{{ 7 * 7 }}',
  '{% import os %}',
  `\${jndi:ldap://x}`,
  '$(touch /tmp/x)',
  '`id`',
  '%s %d {0} {name}',
  '</script><script>',
  '- a: b\n- !!python/object/apply:os.system [id]',
  '# comment',
  ': : : [ ] { } & * ! | > @',
  'yes',
  '~',
  '__proto__',
  'constructor',
  'class',
  '名前',
  '../../etc/passwd',
  'x'.repeat(5000),
];
