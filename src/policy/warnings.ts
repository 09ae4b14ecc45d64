// Warnings about rules that have no effect, or probably not the effect that their author intended.

import { TRUST_STATES } from '../catalog/contract.ts';
import { ENTITY_TYPES } from '../catalog/uid.ts';
import { NONE } from './conditions.ts';
import { ACTIONS, type Match, outcomeFor, type PolicyDocument, type Rule, ruleLabel } from './document.ts';

/** Every request for the policy needs them. */
const known = new WeakMap<PolicyDocument, string[]>();

/** Returns sentences in the order of the rules. */
export function policyWarnings(document: PolicyDocument): string[] {
  const warnings = known.get(document) ?? warningsOf(document);
  known.set(document, warnings);
  return warnings;
}

function warningsOf({ rules }: PolicyDocument): string[] {
  const shadows = shadowWarnings(rules);
  return rules.flatMap((rule, index) => [...ownWarnings(rule, index, rules), ...(shadows[index] ?? [])]);
}

function ownWarnings(rule: Rule, index: number, rules: readonly Rule[]): string[] {
  const label = labelOf(rule, index);
  const asksForApproval = ACTIONS.some((action) => outcomeFor(rule, action) === 'require_approval');
  const namesake = rule.name ? rules.findIndex(({ name }) => name === rule.name) : index;
  return [
    ...(isEmptyRange(rule.match ?? {}) ? [`${label} can never match: its limits exclude each other.`] : []),
    ...(rule.approval && !asksForApproval ? [`${label} sets 'approval', but no action of it requires approval.`] : []),
    ...(namesake < index ? [`${label} has the same name as rule ${namesake + 1}.`] : []),
    ...(conditionsOf(rule).size === 0 ? [`${label} matches every entity; 'default' says that more clearly.`] : []),
  ];
}

function isEmptyRange({ quality_below, quality_at_least, younger_than_days, older_than_days }: Match): boolean {
  return (
    (quality_below ?? Number.POSITIVE_INFINITY) <= (quality_at_least ?? 0) ||
    (younger_than_days ?? Number.POSITIVE_INFINITY) <= (older_than_days ?? 0)
  );
}

/** Member → accepted values. Omits members that match every entity. */
type Conditions = ReadonlyMap<string, readonly string[]>;

function conditionsOf({ match = {}, except }: Rule): Conditions {
  const members = Object.entries(match).map(
    ([member, value]) => [member, [value].flat().map((each) => String(each).toLowerCase())] as const,
  );
  const needed = members.filter(([member, values]) => !isMetByAll(member, values));
  return new Map(except ? [...needed, ['except', [JSON.stringify(except)]]] : needed);
}

function isMetByAll(member: string, values: readonly string[]): boolean {
  const hasAll = (all: readonly string[]) => all.every((each) => values.includes(each));
  if (member === 'type') return hasAll(ENTITY_TYPES);
  if (member === 'trust') return hasAll(TRUST_STATES);
  if (member === 'quality_at_least') return values[0] === '0';
  const isAnyText = values.some((value) => /^\*+$/.test(value));
  // Every entity has a name; other texts may be missing.
  return isAnyText && (member === 'name' || values.includes(NONE));
}

/**
 * For each rule, warns about actions that an earlier rule always decides first, as far as the patterns show. A set of rules
 * is a number with one bit per rule, so that the time grows with the number of patterns, not with the pairs of rules.
 */
function shadowWarnings(rules: readonly Rule[]): string[][] {
  const conditions = rules.map(conditionsOf);
  const members = new Set(conditions.flatMap((each) => [...each.keys()]));
  const earlier = new Map<string, bigint>();
  const saying = (what: string) => earlier.get(what) ?? 0n;

  /** Earlier rules that accept each of these values, or do not restrict the member. */
  function widerThan(wanted: Conditions, position: number): bigint {
    let wider = (1n << BigInt(position)) - 1n;
    for (const member of members) {
      const values = wanted.get(member);
      const naming = values?.reduce((some, value) => some & saying(`${member} ${value}`), wider) ?? 0n;
      wider &= ~saying(member) | naming;
    }
    return wider;
  }

  return rules.map((rule, position) => {
    const wanted: Conditions = conditions[position] ?? new Map();
    const wider = widerThan(wanted, position);
    const decided = ACTIONS.filter((action) => outcomeFor(rule, action));
    const shadowed = decided.flatMap((action) => {
      const first = lowestOf(wider & saying(action));
      return first === undefined ? [] : [{ action, by: ruleLabel(first + 1, rules[first]?.name) }];
    });
    const said = [...wanted].flatMap(([member, values]) => [member, ...values.map((value) => `${member} ${value}`)]);
    for (const what of [...decided, ...said]) earlier.set(what, saying(what) | (1n << BigInt(position)));
    return [...Map.groupBy(shadowed, ({ by }) => by)].map(([by, some]) => {
      const actions = some.map(({ action }) => action);
      return `${labelOf(rule, position)} never decides about ${LIST.format(actions)}: ${by} decides first.`;
    });
  });
}

function lowestOf(bits: bigint): number | undefined {
  return bits === 0n ? undefined : (bits & -bits).toString(2).length - 1;
}

const LIST = new Intl.ListFormat('en', { type: 'disjunction' });

function labelOf({ name }: Rule, index: number): string {
  const label = ruleLabel(index + 1, name);
  return `${label.charAt(0).toUpperCase()}${label.slice(1)}`;
}
