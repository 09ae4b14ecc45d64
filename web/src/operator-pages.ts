// The pages for operators, in a separate script, so that people who search need not load it.
import { ApprovalsPage } from './governance/approvals-page.tsx';
import { PolicyPage } from './governance/policy-page.tsx';
import { OperationsPage } from './operations/operations-page.tsx';

export const OPERATOR_PAGES = { operations: OperationsPage, approvals: ApprovalsPage, policy: PolicyPage };
export type OperatorPages = typeof OPERATOR_PAGES;
