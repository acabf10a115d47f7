/** The thread in which the embedded database runs. `engine-messages.ts` defines the messages that it sends and receives. */
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { embeddedWire } from './embedded-wire.ts';
import { counter, type EngineData, type FromEngine, type ToEngine } from './engine-messages.ts';

const { dataDir, progress, maxIdleMs, maxFiles } = workerData as EngineData;
const port = parentPort!;
const say = (message: FromEngine, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);

const pg = await PGlite.create({
  dataDir: join(dataDir, 'database'),
  extensions: { vector },
  relaxedDurability: false,
  postgresqlconf: ['timezone = UTC', `max_files_per_process = ${maxFiles}`],
});
const wire = embeddedWire(pg, {
  maxIdleMs,
  answer: (connection, bytes) => say({ kind: 'answer', connection, bytes }, [bytes.buffer]),
  idle: (connection, waiting) => say({ kind: 'idle', connection, waiting }),
  fileTrouble: () => say({ kind: 'fileTrouble' }),
  // Nothing catches this error, so it ends the thread, which is then started again.
  broken: (error) =>
    setImmediate(() => {
      throw error;
    }),
  begin: () => Atomics.add(progress, counter.begun, 1),
  end: () => Atomics.add(progress, counter.ended, 1),
});

port.on('message', (message: ToEngine) => {
  if (message.kind === 'message') wire.receive(message.connection, message.bytes);
  else if (message.kind === 'release') wire.release(message.connection);
  else if (message.kind === 'refuseWrites') wire.refuseWrites(message.refused);
  else void close();
});
say({ kind: 'ready' });

async function close(): Promise<void> {
  await wire.close();
  await pg.close();
  port.close();
}
