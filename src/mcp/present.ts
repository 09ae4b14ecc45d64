// What the hub knows of an entity, short enough for a model's context.
import type { EntityRecord } from '../catalog/contract.ts';
import type { InstallPlan, InstallReport } from '../install/contract.ts';
import type { SearchItem } from '../search/contract.ts';

const LONGEST_SUMMARY = 240;
const LONGEST_DESCRIPTION = 1_500;
const MOST_VERSIONS = 10;
const MOST_TAGS = 15;

export function shownItem(item: SearchItem): Record<string, unknown> {
  const { id, type, name, title, version, status, score_final: score, fit_reason: why } = item;
  const summary = shortened(item.summary, LONGEST_SUMMARY);
  return { id, type, name, title, version, status, summary, score, ...(why ? { why } : {}) };
}

export function itemLine({ id, title, name, summary, status, fit_reason }: SearchItem, position: number): string {
  const note = status === 'active' ? '' : ` [${status}]`;
  const why = fit_reason ? `\n   ${shortened(fit_reason, LONGEST_SUMMARY)}` : '';
  return `${position}. ${id}${note}: ${title ?? name}. ${shortened(summary, LONGEST_SUMMARY)}${why}`;
}

export function shownEntity(entity: EntityRecord): Record<string, unknown> {
  const { id, type, name, title, version, status, summary, license, homepage, links } = entity;
  return {
    id,
    type,
    name,
    title,
    version,
    status,
    summary,
    description: shortened(entity.description, LONGEST_DESCRIPTION),
    license,
    homepage,
    links,
    tags: entity.tags.slice(0, MOST_TAGS),
    capabilities: entity.capabilities,
    frameworks: entity.frameworks,
    providers: entity.providers,
    artifacts: entity.artifacts.map(({ kind, spec }) => ({ kind, spec })),
    adapters: entity.adapters.map(({ framework, template_key: template }) => ({ framework, template_key: template })),
    server: serverOf(entity.mcp_registration),
    gateway_registered_at: entity.gateway_registered_at,
    score_quality: entity.score_quality,
    versions: entity.versions.slice(0, MOST_VERSIONS).map((each) => each.version),
    version_count: entity.versions.length,
    published_at: entity.published_at,
  };
}

export function entityText(entity: EntityRecord): string {
  const { id, title, name, summary, license, artifacts, versions } = entity;
  const kinds = artifacts.map(({ kind }) => String(kind)).join(', ');
  return [
    `${title ?? name} (${id})`,
    summary,
    kinds ? `Installs: ${kinds}.` : 'Nothing to install: it is used where it runs.',
    license ? `License: ${license}.` : 'License: not stated.',
    `${versions.length} version${versions.length === 1 ? '' : 's'}.`,
  ].join('\n');
}

export function planText({ id, artifacts, adapters, mcp_registration: registration }: InstallPlan): string {
  const lines = [
    ...artifacts.map(({ step, command }) => `- ${step}: ${command}`),
    ...adapters.map(({ path, framework }) => `- adapters.write: ${path} for ${framework}`),
    ...(Object.keys(registration).length > 0 ? ['- gateway.register: into the gateway, if one is configured'] : []),
    '- lockfile.write: hub.lock.json',
  ];
  return [`Installing ${id} would:`, ...lines].join('\n');
}

export function reportText({ ok, plan, results, target }: InstallReport): string {
  const lines = results.map(({ step, ok: isDone, extra }) => {
    const reason = isDone
      ? extra?.skipped
        ? 'skipped'
        : 'ok'
      : `failed: ${String(extra?.error ?? 'no reason given')}`;
    return `- ${step}: ${reason}`;
  });
  return [ok ? `Installed ${plan.id} into ${target}.` : `${plan.id} was not installed completely:`, ...lines].join(
    '\n',
  );
}

/** Only where it is and how it is spoken to: registrations may hold credentials. */
function serverOf(registration: Record<string, unknown> | null): Record<string, unknown> | null {
  const server = registration?.server;
  if (typeof server !== 'object' || server === null) return null;
  const { url, transport } = server as Record<string, unknown>;
  return {
    url: typeof url === 'string' ? url.replace(/[?#].*$/s, '') : null,
    transport: typeof transport === 'string' ? transport : null,
  };
}

function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), most / 2)).trimEnd()}…`;
}
