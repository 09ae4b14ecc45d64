// How the four gateway versions differ.

export type Generation = '0.6' | '0.9' | '1.0.3' | '1.0.8';
export const GENERATIONS = ['0.6', '0.9', '1.0.3', '1.0.8'] as const satisfies Generation[];

export interface Rules {
  version: string;
  /** Bodies of tools, resources, prompts and agents are wrapped in an object. */
  isWrapped: boolean;
  /** `/v1/…` exists and is announced. */
  hasVersionedPaths: boolean;
  audience: 'absent' | 'required';
  /** The subject must be the e-mail of a user. */
  needsUser: boolean;
  needsExpiryAndId: boolean;
  /** `teams: null` in a token is a server error. */
  failsOnNullTeams: boolean;
  answerWithoutToken: Answer;
  /** HTTP and STDIO are accepted and stored, but never contacted. */
  takesAnyTransport: boolean;
  unreachableStatus: 502 | 503;
  duplicateToolStatus: 400 | 409;
  /** `my_tool` twice creates two rows. */
  hasUnderscoreTrap: boolean;
  sameUrl: string;
  /** Loopback and private addresses are refused unless allowed. */
  guardsAddresses: boolean;
  /** 422 has no details. */
  is422Opaque: boolean;
  paging: 'none' | 'first rows' | 'limit and cursor';
  /** Prompts and resources that another server exposes are a conflict. */
  acceptsPartsOnce: boolean;
  /** A PUT for a server whose tools changed replaces only the tools. */
  forgetsChangesWithTools: boolean;
  /** Supports GET /gateways/{name}. */
  byNameStatus: 200 | 404 | 500;
  hasRateLimit: boolean;
  hasNumericIds: boolean;
  /** An aborted POST /gateways leaves nothing behind. */
  cancelsWhenAborted: boolean;
  togglePath: 'toggle' | 'state';
}

export interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

const OLD: Rules = {
  version: '0.6.0',
  isWrapped: false,
  hasVersionedPaths: false,
  audience: 'absent',
  needsUser: false,
  needsExpiryAndId: false,
  failsOnNullTeams: false,
  answerWithoutToken: { status: 401, body: { detail: 'Not authenticated' } },
  takesAnyTransport: true,
  unreachableStatus: 503,
  duplicateToolStatus: 400,
  hasUnderscoreTrap: false,
  sameUrl: 'Gateway URL already exists',
  guardsAddresses: false,
  is422Opaque: false,
  paging: 'none',
  acceptsPartsOnce: true,
  forgetsChangesWithTools: false,
  byNameStatus: 500,
  hasRateLimit: false,
  hasNumericIds: true,
  cancelsWhenAborted: false,
  togglePath: 'toggle',
};

const MIDDLE: Rules = {
  ...OLD,
  version: '0.9.0',
  isWrapped: true,
  audience: 'required',
  needsUser: true,
  failsOnNullTeams: true,
  duplicateToolStatus: 409,
  paging: 'first rows',
};

const NEW: Rules = {
  ...MIDDLE,
  version: '1.0.3',
  needsExpiryAndId: true,
  failsOnNullTeams: false,
  answerWithoutToken: { status: 403, body: { detail: 'CSRF validation failed', code: 'CSRF_TOKEN_INVALID' } },
  unreachableStatus: 502,
  sameUrl: 'Gateway already exists',
  guardsAddresses: true,
  paging: 'limit and cursor',
  acceptsPartsOnce: false,
  forgetsChangesWithTools: true,
  byNameStatus: 404,
  hasRateLimit: true,
  hasNumericIds: false,
  cancelsWhenAborted: true,
  togglePath: 'state',
};

const NEWEST: Rules = {
  ...NEW,
  version: '1.0.8',
  hasVersionedPaths: true,
  answerWithoutToken: { status: 401, body: { detail: 'Authorization token required' } },
  takesAnyTransport: false,
  hasUnderscoreTrap: true,
  is422Opaque: true,
  byNameStatus: 200,
};

export const RULES: Record<Generation, Rules> = { '0.6': OLD, '0.9': MIDDLE, '1.0.3': NEW, '1.0.8': NEWEST };
