// Test subjects with sensible defaults.
import type { JsonObject } from '../../src/lib/json.ts';

export function aManifest(fields: JsonObject = {}): JsonObject {
  return {
    schema_version: 1,
    type: 'mcp_server',
    id: 'pdf-tables',
    name: 'io.example.docs/pdf-tables',
    title: 'PDF Tables',
    version: '1.0.0',
    summary: 'Reads tables out of PDF files.',
    description: 'Finds the tables in a PDF file and gives them back as CSV, with merged cells resolved.',
    license: 'Apache-2.0',
    tags: ['pdf', 'tables'],
    ...fields,
  };
}
