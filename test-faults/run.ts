// `npm run test:faults`: injects faults into real hubs on both databases, and prints one table.
import { parseArgs } from 'node:util';
import { startPostgres } from '../test/support/databases/postgres-server.ts';
import { clientFaults } from './clients.ts';
import { clusterFaults } from './cluster.ts';
import { databaseFaults } from './database.ts';
import { type Fault, type Options, type Row, runFault, table } from './harness.ts';
import { killFaults } from './kill.ts';
import { machineFaults } from './machine.ts';
import { remoteFaults } from './remotes.ts';
import { soak } from './soak.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '3' },
    soak: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: process.env.FAULT_SECONDS ?? '1500' },
    only: { type: 'string' },
  },
});
const options: Options = {
  kills: Number(values.kills),
  soakSec: Number(values.soak),
  seed: Number(values.seed),
  totalSec: Number(values.seconds),
  only: values.only?.split(','),
};

const groups: Record<string, (options: Options) => readonly Fault[]> = {
  clients: clientFaults,
  machine: machineFaults,
  database: databaseFaults,
  cluster: clusterFaults,
  remotes: remoteFaults,
  kill: killFaults,
  soak,
};

function isChosen(group: string, { name }: Fault): boolean {
  return options.only?.some((word) => word === group || name.includes(word)) ?? true;
}

async function runAll(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [group, faults] of Object.entries(groups)) {
    for (const fault of faults(options).filter((each) => isChosen(group, each))) {
      for (const engine of fault.engines) {
        const row = await runFault(fault, engine, options);
        rows.push(row);
        console.error(table([row]).split('\n')[2]);
      }
    }
  }
  if (rows.length === 0)
    throw new Error(`No fault is called ${values.only}. Groups: ${Object.keys(groups).join(', ')}.`);
  return rows;
}

// Vacuumed like production servers, because databases must not grow during a soak.
const server = await startPostgres({ settings: ['autovacuum=on', 'autovacuum_naptime=10'] });
process.env.TEST_DATABASE_URL = server.url;
const rows = await runAll().finally(server.stop);
console.log(table(rows));
const failed = rows.filter(({ lost, hung }) => lost + hung > 0);
const notRun = rows.filter(({ injected }) => injected === 0);
console.log(
  `\n${rows.length} rows: ${failed.length} with loss or hang, ${notRun.length} not run (seed ${options.seed}).`,
);
process.exit(failed.length > 0 ? 1 : 0);
