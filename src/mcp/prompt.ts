// The prompt "find me a server for …".
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

export function offerFindPrompt(server: McpServer): void {
  server.registerPrompt(
    'find_server',
    {
      title: 'Find me a server for …',
      description: 'Finds the best entity of the catalog for a need, compares the candidates and proposes an install.',
      argsSchema: z.object({ need: z.string().describe('What it should be able to do, in plain words') }),
    },
    ({ need }) => ({
      messages: [
        {
          role: 'user',
          content: {
            type: 'text',
            text: [
              `Find me a server for this need: ${need}`,
              'Use search_catalog with the need in plain words, and again with other words if the first results do not fit.',
              'Read the two or three best with get_entity, and compare what they do, their license, quality and how they are installed.',
              'Recommend one and say why. Show the result of plan_install for it, and ask before you install anything.',
            ].join('\n'),
          },
        },
      ],
    }),
  );
}
