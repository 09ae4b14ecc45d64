// The id argument of the tools.
import { z } from 'zod';

export const EntityId = z
  .string()
  .min(1)
  .max(500)
  .describe('`<type>:<slug>@<version>` as search_catalog returns it; without the version, the newest stable one');

export const Prerelease = z
  .boolean()
  .default(false)
  .describe('If the id has no version, use the newest one, even if it is a pre-release');
