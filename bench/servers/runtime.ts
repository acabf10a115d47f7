/** The runtime alone: context, access, validation and encoding of real operations around a constant answer. */
import { createServer } from 'node:http';
import { pino } from 'pino';
import { operations } from '../../generated/operations.ts';
import { createApp } from '../../src/app.ts';
import type { Database } from '../../src/db/index.ts';
import type { ServiceModule } from '../../src/http/service.ts';
import { createSealer } from '../../src/lib/seal.ts';
import { listen } from './announce.ts';
import { answer } from './answer.ts';

const [name = '', token = ''] = process.argv.slice(2);

const handlers: Record<string, Record<string, () => unknown>> = {};
for (const { resource, method } of operations.filter(({ service }) => service === name)) {
  (handlers[resource] ??= {})[method] = () => answer;
}
const constant: ServiceModule = {
  name,
  migrations: new URL('./', import.meta.url),
  settings: {},
  create: () => ({ handlers, encodeError: (error) => ({ error: error.message }) }),
};
const app = await createApp({
  // Nothing in the measurement uses this.
  db: {} as Database,
  modules: [constant],
  config: {
    rootToken: token,
    operator: { tenant: 'default', app: 'default' },
    trustedProxy: [],
    corsOrigins: [],
    anonymousRoot: false,
    strict: false,
    dataDir: '.plinth',
    production: true,
    publicUrl: 'http://127.0.0.1:4000',
    allowPrivateTargets: false,
    sealer: createSealer(Buffer.alloc(32)),
    remotes: {},
    settingsOf: () => ({}) as never,
  },
  log: pino({ level: 'silent' }),
  prefixed: true,
});
listen(createServer(app.handle));
