// PostgreSQL clients that send no password but the one in their address.
import type { Socket } from 'node:net';
import pg from 'pg';

/** Left alone, a client takes what is missing from PGPASSWORD or a password file. `why` is the end of a sentence about the server. */
export function clientWithOwnPassword(url: string, why: string): typeof pg.Client {
  return class extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      const own = passwordIn(url);
      // A function is asked only when the server wants a password, and stands before everything else that could be sent.
      const password = async () => {
        if (own !== '') return own;
        // Nobody else closes a connection that failed here, and the process would stay for it.
        setImmediate(() => streamOf(this).destroy());
        throw new Error(`it wants a password, ${why}`);
      };
      Object.assign(this, { password });
    }
  };
}

function passwordIn(url: string): string {
  const { searchParams, password } = new URL(url);
  return searchParams.get('password') || decodeURIComponent(password);
}

/** The types have no word of it. */
function streamOf(client: pg.Client): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}
