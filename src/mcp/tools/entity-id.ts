// The id argument of the tools, and what they say about an unknown one.
import { z } from 'zod';
import { HubError } from '../../errors.ts';

export const EntityId = z
  .string()
  .min(1)
  .max(500)
  .describe('`<type>:<slug>@<version>` as search_catalog gives it; without the version, the newest stable one');

export const Prerelease = z
  .boolean()
  .default(false)
  .describe('If the id has no version, use the newest one, even if it is a pre-release');

/** The API's message suggests what these tools do not accept, such as a manifest. */
export async function findable<T>(id: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof HubError) || error.code !== 'entity_not_found') throw error;
    throw new HubError(
      'entity_not_found',
      `No entity '${id.slice(0, 120)}' is in the catalog. Use search_catalog to find ids.`,
    );
  }
}
