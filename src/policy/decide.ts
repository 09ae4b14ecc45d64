// Applies a policy to an entity: for each action, the first matching rule that sets an outcome decides.
import { compileMatch, factsOf, foundWords } from './conditions.ts';
import {
  ACTIONS,
  type Action,
  type ApprovalScope,
  type Match,
  type Outcome,
  outcomeFor,
  type PolicyDocument,
  type Rule,
  ruleLabel,
} from './document.ts';
import { indexRules } from './rule-index.ts';
import type { PolicySubject } from './store.ts';

export interface Decision {
  outcome: Outcome;
  /** Counted from 1; null if the default decided. */
  rule: number | null;
  /** `rule 2 'no copyleft'`, or `the default of the policy`. */
  label: string;
  approval: ApprovalScope;
}

export type Decisions = Record<Action, Decision>;

export interface CompiledPolicy {
  readonly document: PolicyDocument;
  /** Whether the decision about an entity changes with its age alone. */
  readonly dependsOnAge: boolean;
  decide(subject: PolicySubject, now: Date): Decisions;
  /** Explains a decision in a sentence. */
  explain(decision: Decision, subject: PolicySubject, now: Date): string;
}

const DEFAULT = 'the default of the policy';

export function compilePolicy(document: PolicyDocument): CompiledPolicy {
  const rules = document.rules.map(compileRule);
  const candidates = indexRules(document.rules);
  const fallback = decisionsOf({ outcome: 'allow', ...document.default }, { rule: null, label: DEFAULT });
  return {
    document,
    dependsOnAge: document.rules.some(({ match = {}, except = {} }) => isAboutAge(match) || isAboutAge(except)),

    decide(subject, now) {
      const facts = factsOf(subject, now);
      const decided: Partial<Decisions> = {};
      let open: number = ACTIONS.length;
      for (const index of candidates(facts)) {
        const rule = rules[index];
        if (!rule?.matches(facts)) continue;
        for (const action of rule.actions) {
          if (decided[action] !== undefined) continue;
          decided[action] = rule.decisions[action];
          open -= 1;
        }
        if (open === 0) break;
      }
      return { ...fallback, ...decided } as Decisions;
    },

    explain({ rule, label }, subject, now) {
      if (rule === null && label !== DEFAULT) return `It follows from ${label}.`;
      if (rule === null) return 'No matching rule decides this, so the default applies.';
      const facts = factsOf(subject, now);
      const members = Object.keys(document.rules[rule - 1]?.match ?? {}) as (keyof Match)[];
      const found = members.map((member) => foundWords(member, facts)).join(', ');
      return `${label} is the first matching rule that decides this${found ? `: the entity has ${found}` : ''}.`;
    },
  };
}

function compileRule(rule: Rule, index: number) {
  const isMatch = compileMatch(rule.match ?? {});
  const isException = rule.except && compileMatch(rule.except);
  const decisions = decisionsOf(rule, { rule: index + 1, label: ruleLabel(index + 1, rule.name) });
  return {
    actions: ACTIONS.filter((action) => decisions[action]),
    decisions,
    matches: (facts: Parameters<typeof isMatch>[0]) => isMatch(facts) && !isException?.(facts),
  };
}

function decisionsOf(
  rule: Pick<Rule, Action | 'outcome' | 'approval'>,
  by: Pick<Decision, 'rule' | 'label'>,
): Partial<Decisions> {
  const decided = ACTIONS.flatMap((action) => {
    const outcome = outcomeFor(rule, action);
    return outcome ? [[action, { outcome, approval: rule.approval ?? 'version', ...by }] as const] : [];
  });
  return Object.fromEntries(decided);
}

function isAboutAge({ younger_than_days, older_than_days }: Match): boolean {
  return younger_than_days !== undefined || older_than_days !== undefined;
}
