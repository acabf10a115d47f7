import { pino } from 'pino';
import { openDatabase } from '../../../../db/index.ts';
import { createSealer } from '../../../../lib/seal.ts';
import { readSettings } from '../../../../lib/settings.ts';
import { answerCommands } from '../../../../testing/worker-processes.ts';
import { createSealing } from '../../sealing.ts';
import { settings } from '../../settings.ts';
import { createDispatcher } from '../dispatcher.ts';
import type { Start } from './processes.ts';

/** One process with a dispatcher, run by `processes.ts`. */
const { url, dataDir, masterKey, leaseMs, env } = JSON.parse(process.argv[2] ?? '{}') as Start;
const log = pino({ level: 'silent' });
const db = await openDatabase({ url, dataDir, log });
const dispatcher = createDispatcher({
  db,
  log,
  sealing: createSealing(createSealer(Buffer.from(masterKey, 'base64'))),
  settings: readSettings(settings, env),
  allowPrivateTargets: true,
  leaseMs,
  pollMs: 200,
  drainMs: 500,
});

answerCommands({
  work: () => dispatcher.start(),
  async close() {
    await dispatcher.stop();
    await db.close();
    process.exit(0);
  },
});
