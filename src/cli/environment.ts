// The settings that a process starts with: its environment, and `.env` in its folder.
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Environment } from '../config.ts';
import { SettingError } from '../errors.ts';

/** For whoever runs a hub in this folder, and wrote the file: what the environment has wins over it. @throws SettingError */
export function withEnvFile(environment: Environment): Environment {
  return { ...readEnvFile(), ...environment };
}

/** @throws SettingError */
export function readEnvFile(): Environment {
  try {
    return parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return {};
    throw new SettingError(`.env must be a readable file (${code}).`);
  }
}
