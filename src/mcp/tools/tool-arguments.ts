// Validates the arguments of a tool. Refuses unknown ones; a model would otherwise assume that they had an effect.
import { z } from 'zod';

export function toolArguments<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `Unknown argument ${issue.keys.map((key) => `'${key.slice(0, 60)}'`).join(', ')}; this tool accepts ${known}.`
        : undefined,
  });
}
