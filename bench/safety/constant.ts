/** The runtime with the real operations of safety around a constant answer, which is stored by one grouped insert. */
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { createApp } from '../../src/app.ts';
import { groupCommit } from '../../src/db/group-commit.ts';
import { openDatabase } from '../../src/db/index.ts';
import type { ServiceModule } from '../../src/http/service.ts';
import { newId } from '../../src/lib/ids.ts';
import { createSealer } from '../../src/lib/seal.ts';
import { log, token } from '../place.ts';
import { listen } from '../servers/announce.ts';

const [url = ''] = process.argv.slice(2);
const db = await openDatabase({ url, dataDir: tmpdir(), log });
await db.sql`
  create table if not exists bench_scan (tenant_id text, id text, body json not null, primary key (tenant_id, id))`;

const answer = {
  ...{ direction: 'input', decision: 'allow', blocked: false, findings: [], redacted: '' },
  ...{
    redacted_messages: [],
    pii_count: 0,
    profile_used: 'default',
    tenant_id: 'default',
    app_id: 'default',
  },
  ...{ duration: '0.214ms', created_at: '2026-11-20T09:30:00.000Z', policies_used: [], response: '' },
  layers_run: ['instinct', 'awareness', 'boundary', 'value', 'judgment', 'reflex'],
  ...{ skipped: [], truncated: false, revision: 3, metadata: {} },
};
const commits = groupCommit<{ id: string }>({
  maxBatch: 256,
  maxBacklog: 10_000,
  overloaded: () => new Error('overloaded'),
  write: async (scans) => {
    await db.sql`
      insert into bench_scan (tenant_id, id, body)
      select 'default', id, body::json
      from unnest(${scans.map(({ id }) => id)}::text[], ${scans.map((scan) => JSON.stringify(scan))}::text[]) as given(id, body)`;
  },
});
const constant: ServiceModule = {
  name: 'safety',
  migrations: new URL('./', import.meta.url),
  built: ['Scans_input'],
  settings: {},
  create: () => ({
    handlers: {
      Scans: {
        async input() {
          const scan = { id: newId('scan'), ...answer };
          await commits.add(scan);
          return scan;
        },
      },
    },
    encodeError: (error) => ({ error: error.message }),
  }),
};
const app = await createApp({
  db,
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
  log,
  prefixed: true,
});
listen(createServer(app.handle));
