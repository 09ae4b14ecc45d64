// Checks whether a `server.json` or a manifest can be published. Agent cards are checked too, but cannot be published.

import type { z } from 'zod';
import { readManifest } from '../../catalog/manifest.ts';
import { HubError, type InputFault } from '../../errors.ts';
import { countValues, isJsonObject, isWithinDepth, type JsonObject } from '../../lib/json.ts';
import { plainIssue } from '../../lib/plain-issue.ts';
import { cardFaults, isAgentCard, manifestFromAgentCard, seemsAgentCard } from '../agent-card.ts';
import type { ServerKey, Validation, ValidationIssue } from '../contract.ts';
import { serverFromManifests, serverKeyOf } from '../server-from-manifests.ts';
import { ruleIssues, schemaIssues } from './server-rules.ts';
import { PublishedServer } from './server-schema.ts';

/** More issues would not help, and would slow down the response. */
const MOST_ISSUES = 100;
const DEEPEST = 64;
/** Far more than a server needs. A 1 MB document can contain so many faults that finding them takes seconds. */
const MOST_VALUES = 10_000;

export function validateDocument(document: unknown): Validation {
  const issues = isWithinDepth(document, DEEPEST)
    ? issuesIn(document).slice(0, MOST_ISSUES)
    : [schemaIssue('', `must not be nested deeper than ${DEEPEST} levels`, 'depth')];
  return { valid: issues.every(({ severity }) => severity !== 'error'), issues };
}

function issuesIn(document: unknown): ValidationIssue[] {
  if (isManifest(document)) return manifestIssues(document);
  if (!seemsAgentCard(document)) return serverIssues(document);
  const faults = cardFaults(document);
  return faults.length > 0
    ? faults.map(({ path, message }) => schemaIssue(path, message, 'agent-card'))
    : manifestIssues(manifestFromAgentCard(document));
}

/** Manifests have a type; `server.json` does not. */
export function isManifest(document: unknown): document is JsonObject {
  return isJsonObject(document) && document.type !== undefined;
}

function serverIssues(document: unknown): ValidationIssue[] {
  if (!isJsonObject(document)) return [schemaIssue('', 'must be an object', 'type')];
  if (countValues(document) > MOST_VALUES)
    return [schemaIssue('', `must not have more than ${MOST_VALUES} values`, 'size')];
  const { data, error } = PublishedServer.safeParse(document, { error: plainIssue });
  return [...schemaIssues(document), ...(data ? ruleIssues(data) : error.issues.flatMap(issuesOf))];
}

function manifestIssues(document: JsonObject): ValidationIssue[] {
  try {
    const { type, slug, name, version } = readManifest(document);
    if (type !== 'mcp_server')
      return [
        schemaIssue('type', 'is valid, but only manifests of the type mcp_server can be published', 'type', true),
      ];
    const key = serverKeyOf(document);
    if (key && key.name === slug && key.name === name && key.version === version)
      return serverIssues(serverOfManifest(key, document));
    const message = key
      ? `must be ${key.name}, like the name; provenance must have the same name and version`
      : 'must be a registry name, such as com.acme/notes, and the same as name';
    return [schemaIssue('id', `${message}; otherwise the manifest cannot be published`, 'manifest-name', true)];
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    return error.faults.map(({ path, message }) => schemaIssue(path, message, 'manifest'));
  }
}

/** As listed, but with the manifest's parts of `server.json` unconverted, so that faults in them are reported. */
function serverOfManifest(key: ServerKey, document: JsonObject): JsonObject {
  const { server } = serverFromManifests(key, [document]);
  const given = SERVER_PARTS.filter((part) => document[part] !== undefined && document[part] !== null);
  return { ...server, ...Object.fromEntries(given.map((part) => [part, document[part]])) };
}

const SERVER_PARTS = ['repository', 'icons', 'packages', 'remotes', '_meta'];
/** Allowed in a catalog's manifest, but not in a published one. */
const UNPUBLISHABLE = ['type', 'manifest-name'];

/** Faults that prevent publishing. For manifests, these include issues that are only warnings to their authors. */
export function publishingFaults(document: unknown): InputFault[] {
  const { issues } = validateDocument(document);
  const isOwn = isManifest(document) || isAgentCard(document);
  return issues
    .filter(({ severity, reference }) => severity === 'error' || (isOwn && UNPUBLISHABLE.includes(reference)))
    .map(({ path, message }) => ({ path, message }));
}

function issuesOf(issue: z.core.$ZodIssue): ValidationIssue[] {
  const path = pathText(issue.path);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => schemaIssue(joined(path, key), unknownMember(key), 'additionalProperties'));
  return [schemaIssue(path, issue.message, issue.code)];
}

/** Before the schema of 2025-09-29, members were written with underscores. */
function unknownMember(key: string): string {
  const camel = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const advice = camel === key || key === '_meta' ? '' : `; in the current schema, it may be named ${camel}`;
  return `is not a member of server.json${advice}`;
}

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : joined(text, String(part))),
    '',
  );
}

function joined(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function schemaIssue(path: string, message: string, reference: string, isWarning = false): ValidationIssue {
  return { type: 'schema', path, message, severity: isWarning ? 'warning' : 'error', reference };
}
