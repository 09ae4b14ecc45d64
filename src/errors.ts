// The error class of the hub, with the closed list of its codes; and the few errors that have none.

/** Every code a caller can meet, with what it means. docs/errors.md is generated from this list. */
export const ERROR_CODES = {
  invalid_request:
    'A parameter or a field of the body is missing, of the wrong type or out of range; `errors` names each.',
  invalid_json: 'The body is not JSON.',
  invalid_manifest: 'A manifest cannot be read as one; `errors` names what is wrong with it.',
  invalid_server:
    'What should be published is not a `server.json` or a manifest of a server; `errors` names what is wrong.',
  version_taken: 'This version of the server is there already; what is published is never replaced.',
  not_published: 'The server comes from a remote, so what it says can only be changed there.',
  not_offered: 'The protocol has this, and this hub does not offer it; the sentence says what to do instead.',
  unauthorized: 'The route needs a bearer token, and it was missing, wrong, expired or revoked.',
  forbidden: 'The token is valid, but its role or its scope does not allow this.',
  origin_refused: 'The request comes from a page of another site, or under a name that is not the hub’s.',
  entity_not_found: 'No entity of that id is in the catalog.',
  not_allowed: 'The policy of the hub does not allow this, or only once somebody has approved it.',
  invalid_policy: 'The policy cannot be read as one; `errors` names what is wrong, with line and column.',
  policy_from_file: 'The policy comes from POLICY_FILE, so it is changed there and not through the API.',
  decision_conflict: 'Somebody has decided otherwise, or the entity has changed, since the caller looked.',
  entity_blocked: 'An operator has blocked this entity, so it cannot be installed or deleted.',
  remote_not_found: 'No remote has this address or name.',
  name_taken: 'Another remote, token, webhook, view or server has this name.',
  token_not_found: 'No token has this name.',
  webhook_not_found: 'No webhook has this name.',
  view_not_found: 'This registry has no view of that name.',
  route_not_found: 'Nothing is served at this address.',
  method_not_allowed: 'The address exists, but not with this method; `Allow` lists those it has.',
  sync_running: 'A sync is under way already, here or in another hub on the same database.',
  lockfile_mismatch: 'A frozen install was asked for, and the lockfile in the target says something else.',
  request_timeout: 'The request did not arrive in time.',
  payload_too_large: 'The body is larger than MAX_BODY_BYTES.',
  uri_too_long: 'The address is longer than the hub reads.',
  unsupported_media_type: 'The body is of a content type that the route does not read.',
  headers_too_large: 'The headers are larger than the hub reads.',
  rate_limited: 'Too many requests from this address; `Retry-After` says when to come again.',
  internal_error: 'Something went wrong inside the hub; the log has it under the `request_id`.',
  overloaded: 'The hub cannot keep up at the moment; `Retry-After` says when to come again.',
  issuer_unavailable: 'The issuer of sign-ins does not answer, so the token cannot be checked at the moment.',
  database_unavailable: 'The database does not answer at the moment; `Retry-After` says when to come again.',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** One thing that is wrong with an input: where, and what. */
export interface InputFault {
  path: string;
  message: string;
}

export class HubError extends Error {
  override readonly name = 'HubError';
  readonly code: ErrorCode;
  readonly faults: readonly InputFault[];

  /** `message` is one sentence a person can act on; it reaches the caller as it is. */
  constructor(code: ErrorCode, message: string, options: { faults?: readonly InputFault[]; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.faults = options.faults ?? [];
  }
}

/** A hub elsewhere gave no answer, or none of a hub: whether the request had an effect is not known. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  readonly hubUrl: string;

  constructor(hubUrl: string, why: string, options: { cause?: unknown } = {}) {
    super(`The hub at ${hubUrl} ${why}.`, options);
    this.hubUrl = hubUrl;
  }
}

/** Stops the start, with one line that says why. */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}

/** Stops the start, with one line that names the setting, what it got and what it wants. */
export class SettingError extends StartError {
  override readonly name = 'SettingError';
  /** The one that is wrong, where that can be told. */
  readonly setting: string | undefined;

  constructor(message: string, { setting }: { setting?: string } = {}) {
    super(message);
    this.setting = setting;
  }
}
