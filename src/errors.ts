// The hub's error class with its closed list of codes, and the few errors that have no code.

/** Every code that a caller may receive, with its meaning. docs/errors.md is generated from this list. */
export const ERROR_CODES = {
  invalid_request:
    'A parameter or a field of the body is missing, of the wrong type or out of range; `errors` names each.',
  invalid_json: 'The body is not JSON.',
  invalid_manifest: 'The document is not a valid manifest; `errors` says what is wrong.',
  invalid_server:
    'The published document is not a valid `server.json` or server manifest; `errors` says what is wrong.',
  version_taken: 'This version of the server already exists; published versions are never replaced.',
  not_published: 'The server comes from a remote, so it can only be changed there.',
  not_offered: 'The protocol defines this, but the hub does not offer it; `detail` says what to do instead.',
  unauthorized: 'The route needs a bearer token, and the token is missing, wrong, expired or removed.',
  forbidden: 'The token is valid, but its role or scope does not allow this.',
  origin_refused: 'The request comes from another website, or uses a host name that is not the hub’s.',
  entity_not_found: 'The catalog has no entity with this id.',
  not_allowed: 'The hub’s policy does not allow this, or requires an approval first.',
  invalid_policy: 'The document is not a valid policy; `errors` says what is wrong, with line and column.',
  policy_from_file: 'The policy comes from POLICY_FILE, so it can only be changed in that file.',
  decision_conflict: 'Someone else has decided differently, or the entity has changed since it was reviewed.',
  entity_blocked: 'An operator has blocked this entity, so it cannot be installed or removed.',
  remote_not_found: 'No remote has this address or name.',
  name_taken: 'Another remote, token, webhook, view or server has this name.',
  token_not_found: 'No token has this name.',
  webhook_not_found: 'No webhook has this name.',
  view_not_found: 'The registry has no view with this name.',
  route_not_found: 'Nothing is served at this address.',
  method_not_allowed: 'The address does not support this method; `Allow` lists the methods it supports.',
  sync_running: 'A sync is already running, in this hub or in another one on the same database.',
  lockfile_mismatch: 'The lockfile in the target cannot be read, or does not match a frozen install.',
  request_timeout: 'The request did not arrive in time.',
  payload_too_large: 'The body is larger than MAX_BODY_BYTES.',
  uri_too_long: 'The address is longer than the hub accepts.',
  unsupported_media_type: 'The route does not accept this content type.',
  headers_too_large: 'The headers are larger than the hub accepts.',
  rate_limited: 'Too many requests, or wrong tokens, came from this address; `Retry-After` says when to try again.',
  internal_error: 'Something went wrong inside the hub; look for the `request_id` in its log.',
  overloaded: 'The hub is overloaded; `Retry-After` says when to try again.',
  issuer_unavailable: 'The sign-in issuer does not respond, so the token cannot be checked now.',
  database_unavailable: 'The database does not respond or cannot be written; `Retry-After` says when to try again.',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** A fault in an input: where and what. */
export interface InputFault {
  path: string;
  message: string;
}

export class HubError extends Error {
  override readonly name = 'HubError';
  readonly code: ErrorCode;
  readonly faults: readonly InputFault[];

  /** `message` is a sentence that a person can act on; callers see it unchanged. */
  constructor(code: ErrorCode, message: string, options: { faults?: readonly InputFault[]; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.faults = options.faults ?? [];
  }
}

/** `message` is the end of a sentence about the member at `path`. */
export function invalidRequest(path: string, message: string): HubError {
  return invalidMembers([{ path, message }]);
}

/** `whole` names what a fault without a path is about. */
export function invalidMembers(faults: readonly InputFault[], whole = 'the body'): HubError {
  const sentence = faults.map(({ path, message }) => `${path || whole}: ${message}`).join('; ');
  return new HubError('invalid_request', `The request is not valid: ${sentence}.`, { faults });
}

/** For `catch`: an entity that does not exist becomes undefined. */
export function unlessNotFound(error: unknown): undefined {
  if (!(error instanceof HubError) || error.code !== 'entity_not_found') throw error;
}

/** A remote hub did not respond, or the response is not a hub's: the request may still have had an effect. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  readonly hubUrl: string;

  constructor(hubUrl: string, why: string, options: { cause?: unknown } = {}) {
    super(`The hub at ${hubUrl} ${why}.`, options);
    this.hubUrl = hubUrl;
  }
}

/** Aborts startup with one line that says why. */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}

export class NewerDatabaseError extends StartError {
  constructor() {
    super('The database was written by a newer version of the hub; start that version, or use another database.');
  }
}

/** Aborts startup with one line: the setting, its value, and what is expected. */
export class SettingError extends StartError {
  override readonly name = 'SettingError';
  /** The invalid setting, if known. */
  readonly setting: string | undefined;

  constructor(message: string, { setting }: { setting?: string } = {}) {
    super(message);
    this.setting = setting;
  }
}

/** Code of others may throw anything. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
