// Warnings about rules that have no effect, or probably not the effect that their author intended.

import { TRUST_STATES } from '../catalog/contract.ts';
import { ENTITY_TYPES } from '../catalog/uid.ts';
import { NONE } from './conditions.ts';
import { ACTIONS, type Match, outcomeFor, type PolicyDocument, type Rule, ruleLabel } from './document.ts';

/** Returns sentences in the order of the rules. */
export function policyWarnings({ rules }: PolicyDocument): string[] {
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
type Conditions = ReadonlyMap<string, ReadonlySet<string>>;

function conditionsOf({ match = {}, except }: Rule): Conditions {
  const members = Object.entries(match).map(
    ([member, value]) => [member, new Set([value].flat().map((each) => String(each).toLowerCase()))] as const,
  );
  const needed = members.filter(([member, values]) => !isMetByAll(member, values));
  return new Map(except ? [...needed, ['except', new Set([JSON.stringify(except)])]] : needed);
}

function isMetByAll(member: string, values: ReadonlySet<string>): boolean {
  const hasAll = (all: readonly string[]) => all.every((each) => values.has(each));
  if (member === 'type') return hasAll(ENTITY_TYPES);
  if (member === 'trust') return hasAll(TRUST_STATES);
  if (member === 'quality_at_least') return values.has('0');
  const isAnyText = [...values].some((value) => /^\*+$/.test(value));
  // Every entity has a name; other texts may be missing.
  return isAnyText && (member === 'name' || values.has(NONE));
}

/** For each rule, warns about actions that an earlier rule always decides first, as far as the patterns show. */
function shadowWarnings(rules: readonly Rule[]): string[][] {
  const conditions = rules.map(conditionsOf);
  return rules.map((rule, position) => {
    const wider = conditions.slice(0, position).map((earlier) => isWider(earlier, conditions[position] ?? new Map()));
    const shadowed = ACTIONS.filter((action) => outcomeFor(rule, action)).flatMap((action) => {
      const first = rules.findIndex((earlier, index) => wider[index] === true && outcomeFor(earlier, action));
      return first === -1 ? [] : [{ action, by: ruleLabel(first + 1, rules[first]?.name) }];
    });
    return [...Map.groupBy(shadowed, ({ by }) => by)].map(([by, some]) => {
      const actions = some.map(({ action }) => action);
      return `${labelOf(rule, position)} never decides about ${LIST.format(actions)}: ${by} decides first.`;
    });
  });
}

/** Whether `earlier` accepts everything that `later` accepts. */
function isWider(earlier: Conditions, later: Conditions): boolean {
  return [...earlier].every(([member, accepted]) => {
    const values = later.get(member);
    return values !== undefined && [...values].every((value) => accepted.has(value));
  });
}

const LIST = new Intl.ListFormat('en', { type: 'disjunction' });

function labelOf({ name }: Rule, index: number): string {
  const label = ruleLabel(index + 1, name);
  return `${label.charAt(0).toUpperCase()}${label.slice(1)}`;
}
