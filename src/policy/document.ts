// The schema of the policy document.
import { z } from 'zod';
import { TRUST_STATES } from '../catalog/contract.ts';
import { ENTITY_TYPES } from '../catalog/uid.ts';

export const ACTIONS = ['search', 'install', 'register'] as const;
export type Action = (typeof ACTIONS)[number];

const ACTION_OUTCOME_NAMES = ['allow', 'block', 'require_approval'] as const;
export const OUTCOMES = [...ACTION_OUTCOME_NAMES, 'hide'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The scope of an approval: one version with its content, or also later versions of the same name. */
const APPROVALS = ['version', 'name'] as const;
export type ApprovalScope = (typeof APPROVALS)[number];

/** In characters. Parsing blocks all other requests, for up to two seconds. */
export const LARGEST_POLICY = 200_000;
const MOST_RULES = 1_000;
const MOST_PATTERNS = 1_000;
/** Each entity may be compared with all patterns. */
const MOST_PATTERNS_IN_ALL = 10_000;
const LONGEST_PATTERN = 200;

/** Reads a single value as a list with one element. */
const oneOrMore = <T extends z.ZodType>(value: T) =>
  z.preprocess(
    (given) => (Array.isArray(given) ? given : [given]),
    z
      .array(value)
      .min(1, 'must not be an empty list')
      .max(MOST_PATTERNS, `must not list more than ${MOST_PATTERNS} values`),
  );

const Pattern = z
  .string()
  .min(1, 'must not be empty')
  .max(LONGEST_PATTERN, `must not be longer than ${LONGEST_PATTERN} characters`);
const Score = z.number().min(0, 'must be from 0 to 1').max(1, 'must be from 0 to 1');
const Days = z.number().min(0, 'must not be negative').max(100_000, 'must be at most 100000');

const Match = z
  .strictObject({
    type: oneOrMore(z.enum(ENTITY_TYPES)),
    name: oneOrMore(Pattern),
    publisher: oneOrMore(Pattern),
    remote: oneOrMore(Pattern),
    transport: oneOrMore(Pattern),
    artifact: oneOrMore(Pattern),
    license: oneOrMore(Pattern),
    quality_below: Score,
    quality_at_least: Score,
    younger_than_days: Days,
    older_than_days: Days,
    digest: z.boolean(),
    signature: z.boolean(),
    trust: oneOrMore(z.enum(TRUST_STATES)),
    signed_by: oneOrMore(Pattern),
  })
  .partial();
export type Match = z.infer<typeof Match>;

const outcome = (values: readonly string[] = ACTION_OUTCOME_NAMES) =>
  z.enum(values as typeof OUTCOMES, {
    error: ({ input }) =>
      input === 'hide'
        ? "'hide' is only for search: write 'search: hide'"
        : `must be one of ${values.map(String).join(', ')}`,
  });

const ACTION_OUTCOMES = {
  search: outcome(OUTCOMES).optional(),
  install: outcome().optional(),
  register: outcome().optional(),
  approval: z.enum(APPROVALS).optional(),
};

const Rule = z
  .strictObject({
    name: z.string().max(200, 'must not be longer than 200 characters').optional(),
    match: Match.optional(),
    except: Match.refine((except) => Object.keys(except).length > 0, 'must have at least one member').optional(),
    outcome: outcome().optional(),
    ...ACTION_OUTCOMES,
  })
  .refine((rule) => rule.outcome ?? rule.search ?? rule.install ?? rule.register, {
    error: 'has no effect: set outcome, search, install or register',
  });
export type Rule = z.infer<typeof Rule>;

export const PolicyDocument = z.strictObject({
  version: z.literal(1, { error: 'must be 1' }),
  rules: z
    .array(Rule)
    .max(MOST_RULES, `must not have more than ${MOST_RULES} rules`)
    .refine((rules) => patternCount(rules) <= MOST_PATTERNS_IN_ALL, {
      error: ({ input }) =>
        `must not have more than ${MOST_PATTERNS_IN_ALL} patterns in total, but have ${patternCount(input as Rule[])}: use wider patterns, or approve entities one by one`,
    })
    .default([]),
  default: z.strictObject(ACTION_OUTCOMES).default({}),
});
export type PolicyDocument = z.infer<typeof PolicyDocument>;

function patternCount(rules: readonly Rule[]): number {
  const lists = rules.flatMap(({ match = {}, except = {} }) => [...Object.values(match), ...Object.values(except)]);
  return lists.reduce((sum: number, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
}

/** A rule's outcome for an action; undefined if the rule does not mention the action. */
export function outcomeFor(rule: Pick<Rule, Action | 'outcome'>, action: Action): Outcome | undefined {
  return rule[action] ?? rule.outcome;
}

/** Identifies a rule to people; rules are numbered from 1. */
export function ruleLabel(number: number, name: string | undefined): string {
  return name ? `rule ${number} '${name}'` : `rule ${number}`;
}
