// Renders a template for an entity as an install does.
import { launchOf } from '../../../src/catalog/launch/launch.ts';
import type { Rendered } from '../../../src/install/adapters/adapter-template.ts';
import { findTemplate, genericStub } from '../../../src/install/adapters/templates.ts';
import type { InstallSubject } from '../../../src/install/subject.ts';
import type { JsonObject } from '../../../src/lib/json.ts';

export function renderedFor(
  framework: string,
  key: string,
  subject: InstallSubject,
  params: JsonObject = {},
): Rendered {
  const launch = launchOf(subject);
  const template = findTemplate(framework, key) ?? genericStub(framework, key);
  return template.render({ subject, params, launch, path: template.path(subject), targetDir: '/project' });
}
