import { afterAll, beforeAll, expect, it } from 'vitest';
import { mostLooked } from '../../../db/long-lists.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';

let server: TestServer;
const tenant = 'historic';

beforeAll(async () => {
  server = await testServer({ services: ['webhooks'] });
  await server.db.sql`
    insert into webhooks.delivery_done (
      tenant_id, id, app_id, event_id, endpoint_id, event_type, state, attempt_count, max_attempts, created_at, updated_at, completed_at
    )
    select ${tenant}, 'del_' || lpad(to_hex(nth), 26, '0'), 'default', 'evt_' || lpad('1', 26, '0'), 'ep_' || lpad('1', 26, '0'),
      case nth when 1 then 'rare' else 'usual' end, 'delivered', 1, 10, now(), now(), now()
    from generate_series(1, ${2 * mostLooked}::integer) as nth`;
});
afterAll(() => server.close());

it.each(['event_type=rare', 'state=delivered&event_type=rare', 'to=2020-01-01T00:00:00Z'])(
  'pages that look for %s in a long history are short, and come to its end',
  async (filter) => {
    const found: string[] = [];
    let pages = 0;
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const place = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const answer = await server.request('GET', `/webhooks/deliveries?${filter}${place}`, { tenant });
      expect(answer.status).toBe(200);
      found.push(...(answer.body as { id: string }[]).map(({ id }) => id));
      cursor = answer.headers.get('x-next-cursor');
    }
    expect(found).toEqual(filter.includes('rare') ? [`del_${'1'.padStart(26, '0')}`] : []);
    // The last one finds nothing that follows.
    expect(pages).toBe(3);
  },
);
