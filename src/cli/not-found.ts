// Advice of the command line for an entity that is not in the catalog.
import { HubError } from '../errors.ts';

export const SEARCH_ADVICE = "'hub search <words>' finds entities by what they do.";

/** Rewords the error for the command line; the hub words it for HTTP clients. */
export async function explainedNotFound<T>(asked: Promise<T>, reword: (message: string) => string): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof HubError && error.code === 'entity_not_found') error.message = reword(error.message);
    throw error;
  }
}
