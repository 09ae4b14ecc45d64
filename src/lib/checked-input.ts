// Validates the input of in-process callers; HTTP requests are validated earlier, by their routes.
import type { z } from 'zod';
import { invalidMembers } from '../errors.ts';
import { plainIssue } from './plain-issue.ts';

/** @throws HubError `invalid_request` */
export function checkedInput<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const { data, error } = schema.safeParse(given, { error: plainIssue });
  if (error) throw invalidMembers(error.issues.map(({ path, message }) => ({ path: path.join('.'), message })));
  return data;
}
