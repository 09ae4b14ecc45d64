// Replaces the hub in the package that contains only the command line and the client.
import { UsageError } from '../src/cli/exit-codes.ts';

const SENTENCE =
  "This package does not include the hub itself. Name a running hub with --hub or HUB_URL, or install 'catalog-hub', which does.";

function refuse(): never {
  throw new UsageError(SENTENCE);
}

export { refuse as catalogExists, refuse as localChecks, refuse as openLocalHub, refuse as serve };
