/**
 * Tests that everything acknowledged to a client survives `kill -9`: the process is killed at a random moment under load, three times
 * on the same data, and starts again each time as if nothing had happened.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChildServer, childServer } from './testing/child-server.ts';
import { childDatabase, type ChildDatabase } from './testing/database.ts';

/** The kinds of resources that the test creates, and the paths that list them. */
const kinds = {
  roles: '/authz/v1/roles?limit=200',
  relations: '/authz/v1/relations?limit=200&object_type=document',
  keys: '/keys/v1/keys?limit=200',
  usage: '/keys/v1/usage?limit=200',
} as const;
type Kind = keyof typeof kinds;

/** The ids of acknowledged resources; for relations, the ids of their objects. */
type Acknowledged = Readonly<Record<Kind, Set<string>>>;

let db: ChildDatabase;
let server: ChildServer | undefined;
beforeAll(async () => {
  db = await childDatabase(['authz', 'keys']);
});
afterAll(async () => {
  await server?.kill('SIGKILL');
  await db.remove();
});

const start = () => childServer({ services: ['authz', 'keys'], env: { PLINTH_CONTRACT: 'fast', ...db.env } });

test(
  'everything acknowledged survives kill -9, and the next start needs no help',
  { timeout: 180_000 },
  async () => {
    const done: Acknowledged = { roles: new Set(), relations: new Set(), keys: new Set(), usage: new Set() };
    server = await start();
    for (let round = 0; round < 3; round += 1) {
      const load = new Load(server, done, round);
      await Promise.race([load.acknowledgedMore(10 + Math.floor(Math.random() * 150)), load.ended]);
      expect(await server.kill('SIGKILL')).toBeNull();
      await load.ended;
      expect(load.refusals).toEqual([]);
      server = await start();
      for (const kind of Object.keys(kinds) as Kind[]) {
        expect(done[kind].size).toBeGreaterThan(0);
        const found = await all(server, kind);
        expect([kind, [...done[kind]].filter((id) => !found.has(id))]).toEqual([kind, []]);
      }
    }
    expect(await server.kill()).toBe(0);
  },
);

/** Runs several clients, each of which creates one resource after another until the server is gone. */
class Load {
  /** Unsuccessful responses; none is expected. */
  readonly refusals: string[] = [];
  readonly ended: Promise<unknown>;
  readonly #server: ChildServer;
  readonly #done: Acknowledged;
  readonly #waiting: (() => void)[] = [];
  #left = Infinity;

  constructor(server: ChildServer, done: Acknowledged, round: number) {
    this.#server = server;
    this.#done = done;
    const clients = ['a', 'b'].map((name) => `${name}${round}`);
    this.ended = Promise.all(
      clients.flatMap((client) => [this.#roles(client), this.#relations(client), this.#keys(client)]),
    );
  }

  /** Resolves when this many more resources are acknowledged, with at least one of each kind. */
  acknowledgedMore(count: number): Promise<void> {
    this.#left = count;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async #roles(client: string): Promise<void> {
    for (let n = 0; ; n += 1) {
      const role = await this.#post('/authz/v1/roles', { name: `Role ${client} ${n}` });
      if (!role) return;
      this.#acknowledge('roles', role.id);
    }
  }

  async #relations(client: string): Promise<void> {
    for (let n = 0; ; n += 1) {
      const object_id = `${client}-${n}`;
      const object = { object_type: 'document', object_id, relation: 'viewer' };
      const written = await this.#post('/authz/v1/relations', {
        ...object,
        subject_type: 'user',
        subject_id: 'anna',
      });
      if (!written) return;
      this.#acknowledge('relations', object_id);
    }
  }

  /** Creates API keys, and uses each key once. */
  async #keys(client: string): Promise<void> {
    for (let n = 0; ; n += 1) {
      const made = await this.#post('/keys/v1/keys', { name: `Key ${client} ${n}` });
      if (!made) return;
      this.#acknowledge('keys', made.key.id);
      const use = await this.#post('/keys/v1/keys/validate', { raw_key: made.raw_key, record: 'durable' });
      if (!use) return;
      this.#acknowledge('usage', use.usage_id);
    }
  }

  /** Returns the body of a successful response; undefined when the server is gone or refused. */
  async #post(path: string, body: object) {
    const answer = await this.#server.request('POST', path, { body }).catch(() => undefined);
    if (answer && answer.status >= 300) this.refusals.push(`${path}: ${answer.status} ${answer.text}`);
    return answer && answer.status < 300 ? answer.body : undefined;
  }

  #acknowledge(kind: Kind, id: string): void {
    this.#done[kind].add(id);
    this.#left -= 1;
    if (this.#left <= 0 && Object.values(this.#done).every(({ size }) => size > 0))
      for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Reads the ids of all resources of a kind, page by page. */
async function all(server: ChildServer, kind: Kind): Promise<Set<string>> {
  const found = new Set<string>();
  let cursor: string | null = '';
  while (cursor !== null) {
    const page = await server.request(
      'GET',
      kinds[kind] + (cursor && `&cursor=${encodeURIComponent(cursor)}`),
    );
    if (page.status !== 200) throw new Error(`${kind}: ${page.status} ${page.text}`);
    for (const { id, object_id } of page.body) found.add(kind === 'relations' ? object_id : id);
    cursor = page.headers.get('x-next-cursor');
  }
  return found;
}
