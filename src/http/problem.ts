// Converts errors to application/problem+json (RFC 9457).
import type { FastifyError, FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify';
import { z } from 'zod';
import { ERROR_CODES, type ErrorCode, HubError } from '../errors.ts';
import { checkedInput } from '../lib/checked-input.ts';

/** A new code does not compile until it has a status here. */
export const PROBLEMS: Record<ErrorCode, { status: number; title: string; retryAfterSec?: number }> = {
  invalid_request: { status: 400, title: 'Invalid request' },
  invalid_json: { status: 400, title: 'Invalid JSON' },
  invalid_manifest: { status: 400, title: 'Invalid manifest' },
  invalid_server: { status: 422, title: 'Invalid server' },
  version_taken: { status: 409, title: 'Version taken' },
  not_published: { status: 409, title: 'Not published here' },
  not_offered: { status: 501, title: 'Not offered' },
  unauthorized: { status: 401, title: 'Unauthorized' },
  forbidden: { status: 403, title: 'Forbidden' },
  origin_refused: { status: 403, title: 'Origin refused' },
  entity_not_found: { status: 404, title: 'Entity not found' },
  not_allowed: { status: 403, title: 'Not allowed' },
  invalid_policy: { status: 400, title: 'Invalid policy' },
  policy_from_file: { status: 409, title: 'Policy from a file' },
  decision_conflict: { status: 409, title: 'Decision conflict' },
  entity_blocked: { status: 409, title: 'Entity blocked' },
  remote_not_found: { status: 404, title: 'Remote not found' },
  name_taken: { status: 409, title: 'Name taken' },
  token_not_found: { status: 404, title: 'Token not found' },
  webhook_not_found: { status: 404, title: 'Webhook not found' },
  view_not_found: { status: 404, title: 'View not found' },
  route_not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'Request timeout' },
  sync_running: { status: 409, title: 'Sync already running' },
  lockfile_mismatch: { status: 409, title: 'Lockfile mismatch' },
  payload_too_large: { status: 413, title: 'Payload too large' },
  uri_too_long: { status: 414, title: 'Address too long' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  rate_limited: { status: 429, title: 'Too many requests', retryAfterSec: 60 },
  headers_too_large: { status: 431, title: 'Headers too large' },
  internal_error: { status: 500, title: 'Internal error' },
  overloaded: { status: 503, title: 'Overloaded', retryAfterSec: 5 },
  issuer_unavailable: { status: 503, title: 'Sign-in issuer unavailable', retryAfterSec: 30 },
  database_unavailable: { status: 503, title: 'Database unavailable', retryAfterSec: 5 },
};

export const PROBLEM_TYPE = 'application/problem+json';

export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string().describe('A sentence that says what is wrong and what to do.'),
    code: z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]),
    error: z.string().describe('The same as `code`.'),
    request_id: z.string(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof Problem>;

export function problemBody(error: HubError, requestId: string): Problem {
  const { status, title } = PROBLEMS[error.code];
  return {
    type: `urn:hub:problem:${error.code}`,
    title,
    status,
    detail: error.message,
    code: error.code,
    error: error.code,
    request_id: requestId,
    ...(error.faults.length > 0 ? { errors: [...error.faults] } : {}),
  };
}

export function sendProblem(error: HubError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return setStatus(error, request, reply).type(PROBLEM_TYPE).send(problemBody(error, request.id));
}

/** Sets the status and headers of an error, for every body format. */
export function setStatus(error: HubError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, retryAfterSec } = PROBLEMS[error.code];
  if (retryAfterSec !== undefined && !reply.hasHeader('retry-after')) reply.header('retry-after', retryAfterSec);
  if (error.code === 'unauthorized') reply.header('www-authenticate', 'Bearer');
  // The framework may refuse a request before any hook has run.
  reply.header('x-request-id', request.id);
  return reply.code(status);
}

/** What a caller may see of an error; `internal_error` if the fault is ours. */
export function asHubError(error: unknown): HubError {
  if (error instanceof HubError) return error;
  const { code = '', statusCode, message } = (error ?? {}) as FastifyError;
  const known = FRAMEWORK_ERRORS[code];
  if (known) return new HubError(known, ENCODING_SENTENCES[code] ?? CLIENT_SENTENCES[known] ?? message);
  // The framework's messages for these are not written for callers.
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new HubError('invalid_request', 'The request is malformed or not allowed.');
  return new HubError('internal_error', 'Something went wrong inside the hub; look for this request id in its log.', {
    cause: error,
  });
}

const FRAMEWORK_ERRORS: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_request',
  FST_ERR_BAD_URL: 'invalid_request',
  FST_CP_ERR_INVALID_CONTENT_ENCODING: 'unsupported_media_type',
  FST_CP_ERR_INVALID_CONTENT: 'invalid_request',
};

const ENCODING_SENTENCES: Readonly<Record<string, string>> = {
  FST_CP_ERR_INVALID_CONTENT_ENCODING: 'The body must be uncompressed, or compressed with br, gzip or deflate.',
  FST_CP_ERR_INVALID_CONTENT: "The body cannot be decompressed: it does not match the header 'Content-Encoding'.",
};

const CLIENT_SENTENCES: Partial<Record<ErrorCode, string>> = {
  unsupported_media_type: 'The body must be sent as application/json.',
  payload_too_large: 'The body is larger than this hub accepts (MAX_BODY_BYTES).',
  invalid_request: 'The address or the length of the body is not valid.',
};

/** Validates the parts of a request. */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  const whole = httpPart === 'querystring' ? 'the query' : 'the body';
  return (input) => {
    try {
      return { value: checkedInput(schema, input, whole) };
    } catch (error) {
      return { error: error as Error };
    }
  };
};
