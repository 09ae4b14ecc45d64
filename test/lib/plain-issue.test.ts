import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { plainIssue } from '../../src/lib/plain-issue.ts';

const Shape = z.strictObject({
  name: z.string().min(1).max(3),
  tags: z.array(z.string()).min(2).optional(),
  limit: z.int().min(1).max(100).optional(),
  mode: z.enum(['keyword', 'hybrid']).optional(),
  version: z.literal(1).optional(),
  text: z.union([z.string(), z.number()]).optional(),
  own: z.string({ error: 'must be the words of the schema' }).optional(),
});

const FAULTS: [fields: Record<string, unknown>, sentence: string][] = [
  [{ name: undefined }, 'is missing; it must be a string'],
  [{ name: null }, 'is missing; it must be a string'],
  [{ name: 7 }, 'must be a string'],
  [{ name: '' }, 'must not be empty'],
  [{ name: 'long' }, 'must have at most 3 characters'],
  [{ tags: {} }, 'must be a list'],
  [{ tags: ['a'] }, 'must have at least 2 items'],
  [{ limit: 1.5 }, 'must be a whole number'],
  [{ limit: 0 }, 'must be at least 1'],
  [{ limit: 101 }, 'must be at most 100'],
  [{ mode: 'fast' }, 'must be one of keyword, hybrid'],
  [{ version: 2 }, 'must be 1'],
  [{ text: true }, 'is not one of the types that it may have'],
  [{ own: 7 }, 'must be the words of the schema'],
  [{ naem: 'a', x: 1 }, "has unknown members: 'naem', 'x'"],
];

for (const [fields, sentence] of FAULTS)
  test(`plain issues: ${JSON.stringify(fields)} ${sentence}`, () => {
    const { error } = Shape.safeParse({ name: 'a', ...fields }, { error: plainIssue });
    assert.deepEqual(
      error?.issues.map(({ message }) => message),
      [sentence],
    );
  });
