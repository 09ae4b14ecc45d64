#!/usr/bin/env node
// The executable: hands the process's environment, arguments and signals to the command line.
import module from 'node:module';

const OLDEST_NODE = 24;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(
    `hub: needs Node ${OLDEST_NODE} or newer, and this is ${process.versions.node}; in a checkout, 'npm ci' brings one that 'npm start' uses.\n`,
  );
  process.exitCode = 2;
} else {
  module.enableCompileCache?.();
  // Only now: older versions of Node cannot even read what follows.
  const { main } = await import('../cli/main.ts');
  process.exitCode = await main(process.argv.slice(2), {
    environment: process.env,
    isTerminal: process.stdout.isTTY === true,
    write: (text) => process.stdout.write(text),
    writeError: (text) => process.stderr.write(text),
    shutdown: shutdownSignal(),
  });
}

function shutdownSignal(): AbortSignal {
  const controller = new AbortController();
  const signals = ['SIGTERM', 'SIGINT'] as const;
  for (const signal of signals) process.once(signal, stop);
  return controller.signal;

  function stop(): void {
    controller.abort();
    // Whoever asks a second time does not want to wait.
    for (const signal of signals) process.off(signal, stop);
  }
}
