// A complete agent card of A2A 1.0.
import type { JsonObject } from '../../../src/lib/json.ts';

export function anAgentCard(fields: JsonObject = {}): JsonObject {
  return {
    name: 'Travel Planner',
    description: 'Plans journeys by train.',
    version: '1.2.0',
    supportedInterfaces: [
      { url: 'https://travel.example.org/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ],
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [
      {
        id: 'plan',
        name: 'Plan a journey',
        description: 'Finds connections between two cities.',
        tags: ['travel', 'trains'],
        examples: ['How do I get from Rome to Oslo?', 'A night train to Vienna'],
      },
    ],
    ...fields,
  };
}
