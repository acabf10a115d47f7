/**
 * Writes events as fast as it can, relays them, and prints which changes were committed and how many events were taken. A test starts
 * this program and kills it. Arguments: the data directory, and on PostgreSQL the address of the database.
 */
import { pino } from 'pino';
import { openDatabase } from '../../index.ts';
import { createRelay } from './relaying.ts';
import { change, storing } from './taken.ts';

const [dataDir = '', url] = process.argv.slice(2);
const log = pino({ level: 'silent' });
const db = await openDatabase({ url, dataDir, log });

const { name, take } = storing(db, 'audit');
createRelay({
  db,
  log,
  outboxes: [{ service: 'authz' }],
  consumers: [
    {
      name,
      async take(events, signal) {
        process.stdout.write('begun\n');
        await take(events, signal);
        process.stdout.write(`took ${events.length}\n`);
      },
    },
  ],
  everyMs: 20,
}).start();

async function write(subject: string): Promise<never> {
  for (;;) process.stdout.write(`wrote ${subject} ${await change(db, subject)}\n`);
}

await Promise.all(['a', 'b', 'c', 'd', 'a', 'b'].map(write));
