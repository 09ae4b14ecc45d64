// Computes the quality and recency scores of an entity, both between 0 and 1.
import { asObject } from '../lib/json.ts';
import type { Manifest } from './manifest.ts';
import { describeServer, serverOf } from './server.ts';

export interface QualitySignal {
  /** The criterion, in plain words. */
  reason: string;
  weight: number;
  met: boolean;
}

/** The sum of the weights of all met signals; the weights add up to 1. */
export function qualityScore(manifest: Manifest): number {
  const met = qualitySignals(manifest).filter((signal) => signal.met);
  return Math.round(met.reduce((sum, { weight }) => sum + weight, 0) * 1000) / 1000;
}

/** docs/scores.md explains each signal. */
export function qualitySignals(manifest: Manifest): QualitySignal[] {
  const { description, license, links } = manifest;
  return [
    { reason: 'has a description of 40 characters or more', weight: 0.2, met: description.length >= 40 },
    { reason: 'has a title', weight: 0.05, met: manifest.title !== null },
    { reason: 'has tags or capabilities', weight: 0.1, met: manifest.tags.length + manifest.capabilities.length > 0 },
    { reason: 'names its license', weight: 0.1, met: license !== null && license.toLowerCase() !== 'unknown' },
    { reason: 'links to its source repository', weight: 0.15, met: links.repository !== undefined },
    { reason: 'has a homepage, documentation or a readme', weight: 0.1, met: hasReading(manifest) },
    { reason: 'can be installed or connected to', weight: 0.2, met: isUsable(manifest) },
    { reason: 'says when it was published', weight: 0.1, met: manifest.publishedAt !== null },
  ];
}

const HALF_LIFE_DAYS = 365;
const DAY_MS = 86_400_000;

/** 1 on the day of publication, halved each year; 0 when the date is unknown. */
export function recencyScore(publishedAt: string | null, now: Date): number {
  return recencyAt(publishedAt === null ? Number.NaN : Date.parse(publishedAt), now);
}

/** Takes the date in milliseconds; NaN if unknown. */
export function recencyAt(publishedMs: number, now: Date): number {
  if (Number.isNaN(publishedMs)) return 0;
  const ageDays = Math.max(0, now.getTime() - publishedMs) / DAY_MS;
  return Math.round(0.5 ** (ageDays / HALF_LIFE_DAYS) * 1000) / 1000;
}

function hasReading({ homepage, links, readme }: Manifest): boolean {
  return homepage !== null || readme !== null || links.homepage !== undefined || links.documentation !== undefined;
}

function isUsable({ artifacts, packagesAndRemotes, mcpRegistration }: Manifest): boolean {
  const { cmd } = asObject(serverOf(mcpRegistration).exec);
  const hasCommand = Array.isArray(cmd) && cmd.length > 0;
  return artifacts.length + packagesAndRemotes.length > 0 || hasCommand || describeServer(mcpRegistration).url !== '';
}
