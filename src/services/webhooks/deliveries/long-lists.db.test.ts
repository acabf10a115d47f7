import { afterAll, beforeAll, expect, it } from 'vitest';
import { mostLooked } from '../../../db/long-lists.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { tools } from '../testing.ts';

let server: TestServer;
const tenant = 'historic';
/** The row that a rare filter finds is the oldest one. */
const oldest = '1'.padStart(26, '0');

beforeAll(async () => {
  server = await testServer({ services: ['webhooks'] });
  await server.db.sql`
    insert into webhooks.delivery_done (
      tenant_id, id, app_id, event_id, endpoint_id, event_type, state, attempt_count, max_attempts, created_at, updated_at, completed_at
    )
    select ${tenant}, 'del_' || lpad(to_hex(nth), 26, '0'), 'default', 'evt_' || lpad('1', 26, '0'), 'ep_' || lpad('1', 26, '0'),
      case nth when 1 then 'rare' else 'usual' end, 'delivered', 1, 10, now(), now(), now()
    from generate_series(1, ${2 * mostLooked}::integer) as nth`;
  await server.db.sql`
    insert into webhooks.dlq (
      tenant_id, id, app_id, delivery_id, event_id, endpoint_id, event_type, url, payload, error, attempt_count
    )
    select tenant_id, replace(id, 'del_', 'dlq_'), app_id, id, event_id, endpoint_id, event_type, 'https://a.example/', '{}', 'e', 1
    from webhooks.delivery_done`;
  await server.db.sql`
    insert into webhooks.event (tenant_id, id, app_id, type, data, channels, delivery_count, created_at)
    select tenant_id, replace(id, 'del_', 'evt_'), app_id, event_type, '{}', '{}', 1, now() from webhooks.delivery_done`;
});
afterAll(() => server.close());

/** Reads a list to its end. Returns the ids, and the number of pages. */
async function read(path: string, as: { tenant?: string } = { tenant }) {
  const ids: string[] = [];
  let pages = 0;
  for (let cursor: string | null = ''; cursor !== null; pages++) {
    const place = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const answer = await server.request('GET', `/webhooks${path}${place}`, as);
    expect(answer.status).toBe(200);
    ids.push(...(answer.body as { id: string }[]).map(({ id }) => id));
    cursor = answer.headers.get('x-next-cursor');
  }
  return { ids, pages };
}

it.each(['event_type=rare', 'state=delivered&event_type=rare', 'to=2020-01-01T00:00:00Z'])(
  'pages that look for %s in a long history are short, and come to its end',
  async (filter) => {
    // The last one finds nothing that follows.
    expect(await read(`/deliveries?${filter}`)).toEqual({
      ids: filter.includes('rare') ? [`del_${oldest}`] : [],
      pages: 3,
    });
  },
);

it.each(['event_type=rare', 'event_type=rare&from=2020-01-01T00:00:00Z', 'to=2020-01-01T00:00:00Z'])(
  'pages that look for dead letters with %s are short, too',
  async (filter) => {
    const ids = filter.includes('rare') ? [`dlq_${oldest}`] : [];
    expect(await read(`/dlq?${filter}`)).toEqual({ ids, pages: 3 });
    expect(await read(`/dlq?${filter}`, {})).toEqual({ ids, pages: 3 });
  },
);

it('dead letters of an endpoint come at once', async () => {
  const { id } = await tools(server).endpoint({}, { tenant });
  await server.db.sql`update webhooks.dlq set endpoint_id = ${id} where id = ${`dlq_${oldest}`}`;
  const one = [`dlq_${oldest}`];
  expect(await read(`/dlq?endpoint_id=${id}`)).toEqual({ ids: one, pages: 1 });
  expect(await read(`/dlq?endpoint_id=${id}&event_type=rare`)).toEqual({ ids: one, pages: 1 });
  expect(await read(`/dlq?endpoint_id=${id}`, {})).toEqual({ ids: one, pages: 3 });
});

it('events of a type come at once, and those of all tenants on short pages', async () => {
  const one = [`evt_${oldest}`];
  expect(await read('/events?type=rare')).toEqual({ ids: one, pages: 1 });
  expect(await read('/events?type=rare', {})).toEqual({ ids: one, pages: 3 });
});
