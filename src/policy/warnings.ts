// Rules that have no effect, or another one than their author may think.
import { ACTIONS, type Action, type Match, outcomeFor, type PolicyDocument, type Rule, ruleLabel } from './document.ts';

/** Sentences, in the order of the rules. */
export function policyWarnings({ rules }: PolicyDocument): string[] {
  return rules.flatMap((rule, index) => [...ownWarnings(rule, index), ...shadowWarnings(rules, index)]);
}

function ownWarnings(rule: Rule, index: number): string[] {
  const label = capitalized(ruleLabel(index + 1, rule.name));
  const match = rule.match ?? {};
  const asksForApproval = ACTIONS.some((action) => outcomeFor(rule, action) === 'require_approval');
  return [
    ...(isEmptyRange(match) ? [`${label} can never match: its limits exclude each other.`] : []),
    ...(rule.approval && !asksForApproval ? [`${label} names an approval, and asks for none.`] : []),
    ...(matchesEverything(rule) && index === 0
      ? [`${label} matches every entity; 'default' says that more clearly.`]
      : []),
  ];
}

function isEmptyRange({ quality_below, quality_at_least, younger_than_days, older_than_days }: Match): boolean {
  return (
    (quality_below ?? Number.POSITIVE_INFINITY) <= (quality_at_least ?? 0) ||
    (younger_than_days ?? Number.POSITIVE_INFINITY) <= (older_than_days ?? 0)
  );
}

function shadowWarnings(rules: readonly Rule[], index: number): string[] {
  const rule = rules[index] as Rule;
  const shadowed = ACTIONS.filter((action) => outcomeFor(rule, action)).flatMap((action) => {
    const earlier = rules.slice(0, index).findIndex((each) => outcomeFor(each, action) && covers(each, rule));
    return earlier === -1 ? [] : [{ action, by: ruleLabel(earlier + 1, rules[earlier]?.name) }];
  });
  const label = capitalized(ruleLabel(index + 1, rule.name));
  return [...Map.groupBy(shadowed, ({ by }) => by)].map(
    ([by, some]) => `${label} never decides ${listed(some.map(({ action }) => action))}: ${by} does so before it.`,
  );
}

/** Whether everything that a rule matches is matched by an earlier one, as far as that can be seen from the two texts. */
function covers(earlier: Rule, later: Rule): boolean {
  if (earlier.except && JSON.stringify(earlier.except) !== JSON.stringify(later.except)) return false;
  const wanted = (later.match ?? {}) as Record<string, unknown>;
  return Object.entries(earlier.match ?? {}).every(([member, value]) => includes(value, wanted[member]));
}

function includes(wide: unknown, narrow: unknown): boolean {
  if (Array.isArray(wide) && Array.isArray(narrow)) return narrow.every((value) => wide.includes(value));
  return wide === narrow;
}

function matchesEverything({ match = {}, except }: Rule): boolean {
  return except === undefined && Object.keys(match).length === 0;
}

function listed(actions: readonly Action[]): string {
  return actions.join(' and ');
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
