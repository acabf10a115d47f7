import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Erasure } from '../../../../generated/audit/types.ts';
import { type TestRequest, testServer, type TestServer } from '../../../testing/server.ts';
import { keepEvents } from '../testing.store.ts';
import { inTenant, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'] });
  api = tools(server);
  await keepEvents(server.db);
});
afterAll(() => server.close());

let tenants = 0;
const tenant = () => inTenant(`erasures-${(tenants += 1)}`);
const request = { reason: 'GDPR art. 17 request', requested_by: 'dpo@acme.example' };
const erase = (subject_id: string, own: TestRequest): Promise<Erasure> =>
  api.send('POST', '/erasures', { ...own, body: { subject_id, ...request } });

/** What is null once the actor, or the person concerned, is erased. */
const noActor = { user_id: null, ip: null, user_agent: null };
const noContent = { resource_id: null, subject_id: null, reason: null, metadata: null };
const marked = ({ id }: Erasure) => ({ erased: true, erasure_id: id });

const full = {
  ...{ user_id: 'anna', ip: '203.0.113.7', user_agent: 'curl/8', subject_id: 'bert', resource_id: 'file-1' },
  ...{ reason: 'asked', metadata: { note: 'secret-note' } },
};

describe('an erasure', () => {
  it('takes the content of events that concern the person, and leaves who acted', async () => {
    const own = tenant();
    const before = await api.event(full, own);
    const erasure = await erase('bert', own);
    expect(erasure).toMatchObject({
      ...{ ...request, subject_id: 'bert', events_affected: 1, key_destroyed: true },
      tenant_id: own.headers!['X-Tenant-ID'],
    });
    expect(await api.get(before.id, own)).toEqual({ ...before, ...noContent, ...marked(erasure) });
  });

  it('takes the actor from events, and leaves whom they concern', async () => {
    const own = tenant();
    const before = await api.event(full, own);
    const erasure = await erase('anna', own);
    expect(await api.get(before.id, own)).toEqual({ ...before, ...noActor, ...marked(erasure) });
  });

  it('takes both from events of a person alone, also of one without a subject', async () => {
    const own = tenant();
    const events = [
      await api.event({ ...full, subject_id: 'anna' }, own),
      await api.event({ ...full, subject_id: null }, own),
    ];
    const erasure = await erase('anna', own);
    expect(erasure.events_affected).toBe(2);
    for (const event of events)
      expect(await api.get(event.id, own)).toEqual({
        ...event,
        ...noActor,
        ...noContent,
        ...marked(erasure),
      });
  });

  it('reaches lists, exports, the stream and stored records, and the chain stays valid', async () => {
    const own = tenant();
    const { id, stream_id, hash } = await api.event(full, own);
    await api.event({ user_id: 'carl' }, own);
    expect(await api.verify({}, own)).toMatchObject({ valid: true, verified: 2, erased: 0 });
    await erase('anna', own);
    await erase('bert', own);
    const texts = await Promise.all(
      [
        '/events',
        '/events/export/csv',
        '/events/export/ndjson',
        `/streams/${stream_id}/export`,
        `/events/${id}/record`,
      ].map(async (path) => (await server.request('GET', `/audit/v1${path}`, own)).text),
    );
    for (const text of texts) {
      expect(text).not.toMatch(/anna|bert|203\.0\.113\.7|curl\/8|file-1|secret-note/);
      expect(text).toContain(hash);
    }
    expect(texts[0]).toContain('carl');
    expect(await api.verify({}, own)).toMatchObject({ valid: true, verified: 4, erased: 1 });
  });

  it('means that nothing finds the events by the person or by what they concern', async () => {
    const own = tenant();
    await api.event(full, own);
    await erase('bert', own);
    expect(await api.list('?subject_id=bert', own)).toMatchObject({ total: 0 });
    expect(await api.list('?resource_id=file-1', own)).toMatchObject({ total: 0 });
    expect(await api.list('?user_id=anna', own)).toMatchObject({ total: 1 });
    await erase('anna', own);
    expect(await api.list('?user_id=anna', own)).toMatchObject({ total: 0 });
  });

  it('does not concern what the person does afterwards', async () => {
    const own = tenant();
    const old = await api.event(full, own);
    await erase('anna', own);
    const later = await api.event(full, own);
    expect(await api.get(later.id, own)).toEqual(later);
    expect(await api.get(old.id, own)).toMatchObject(noActor);
    expect((await api.list('?user_id=anna', own)).events).toEqual([later]);
    expect(await erase('anna', own)).toMatchObject({ events_affected: 1, key_destroyed: true });
    expect(await api.get(later.id, own)).toMatchObject({ ...noActor, erased: true });
  });

  it('of somebody unknown, or repeated, is recorded and affects nothing', async () => {
    const own = tenant();
    await api.event(full, own);
    expect(await erase('nobody', own)).toMatchObject({ events_affected: 0, key_destroyed: false });
    const [first, second] = [await erase('anna', own), await erase('anna', own)];
    expect([first.events_affected, second.events_affected, second.key_destroyed]).toEqual([1, 0, false]);
    expect(first.id).not.toBe(second.id);
    const listed = (await api.send('GET', '/erasures', own)) as Erasure[];
    expect(listed.map(({ id }) => id).slice(0, 2)).toEqual([second.id, first.id]);
    expect(await api.send('GET', `/erasures/${first.id}`, own)).toEqual(first);
  });

  it('is an event of the chain that names nobody, and is told to subscribers', async () => {
    const own = tenant();
    await api.event(full, own);
    const { id } = await erase('anna', own);
    const { events } = await api.list('?category=audit', own);
    expect(events).toMatchObject([
      {
        ...{ action: 'erasure.completed', resource: 'erasure', resource_id: id, source: 'audit' },
        ...{
          metadata: { erasure_id: id, events_affected: 1, key_destroyed: true },
          recorded_by: 'root:root',
        },
      },
    ]);
    const told = await server.db.sql`select type, data from audit.outbox where subject = ${id}`;
    expect(told).toEqual([
      {
        type: 'audit.erasure.completed',
        data: { erasure_id: id, events_affected: 1, key_destroyed: true },
      },
    ]);
  });

  it('takes the person from what others asked for, and leaves their words', async () => {
    const own = tenant();
    await api.event(full, own);
    const ask = (body: object): Promise<Erasure> => api.send('POST', '/erasures', { ...own, body });
    const period = { from: '2026-01-01', to: '2026-01-02' };
    const report = await api.send('POST', '/reports/custom', {
      ...own,
      body: { title: 'What anna did', period },
    });
    const asked = await ask({
      subject_id: 'carl',
      reason: 'Anna+1 (anna) wrote to joanna',
      requested_by: 'anna',
    });
    const other = await ask({ subject_id: 'dora', reason: 'anna', requested_by: 'dpo' });
    await ask({ subject_id: 'anna', reason: 'her wish', requested_by: 'dpo' });
    expect(await api.send('GET', `/erasures/${asked.id}`, own)).toMatchObject({
      ...{ subject_id: 'carl', requested_by: 'erased', reason: 'erased+1 (erased) wrote to joanna' },
    });
    expect(await api.send('GET', `/erasures/${other.id}`, own)).toMatchObject({
      ...{ subject_id: 'dora', requested_by: 'dpo', reason: 'erased' },
    });
    expect(await api.send('GET', `/reports/${report.id}`, own)).toMatchObject({ title: 'What erased did' });
  });

  it('of a person whose name means something in a pattern takes that name only', async () => {
    const own = tenant();
    const ask = (subject_id: string, reason: string): Promise<Erasure> =>
      api.send('POST', '/erasures', { ...own, body: { subject_id, reason, requested_by: 'dpo' } });
    const name = '^a.*(b|c)[d]{1}\\$+?-é';
    const { id } = await ask('carl', `axx ${name}, b`);
    await ask(name, 'r');
    expect(await api.send('GET', `/erasures/${id}`, own)).toMatchObject({ reason: 'axx erased, b' });
  });

  it('of many at once counts each event once', async () => {
    const own = tenant();
    await api.batch(
      Array.from({ length: 40 }, () => full),
      own,
    );
    const erasures = await Promise.all(Array.from({ length: 8 }, () => erase('anna', own)));
    expect(erasures.map(({ events_affected }) => events_affected).sort()).toEqual([0, 0, 0, 0, 0, 0, 0, 40]);
    expect(erasures.filter(({ key_destroyed }) => key_destroyed)).toHaveLength(1);
    expect(await api.verify({}, own)).toMatchObject({ valid: true, erased: 40 });
  });

  it('of the caller himself does not give him a new key', async () => {
    const own = tenant();
    const self: TestRequest = { headers: { ...own.headers, 'X-User-ID': 'anna' } };
    await api.event(full, own);
    await erase('anna', self);
    expect(await erase('anna', own)).toMatchObject({ events_affected: 0, key_destroyed: false });
  });

  it('of an administrator leaves what he did, but not that it was he', async () => {
    const own = tenant();
    const admin: TestRequest = { headers: { ...own.headers, 'X-User-ID': 'root-admin' } };
    await api.send('POST', '/retention', { ...admin, body: { category: 'data', duration: '2160h' } });
    const [act] = (await api.list('?category=audit', own)).events;
    expect(act).toMatchObject({ user_id: 'root-admin', metadata: { category: 'data' } });
    await erase('root-admin', own);
    expect(await api.get(act!.id, own)).toMatchObject({ ...noActor, metadata: { category: 'data' } });
    expect(await api.verify({}, own)).toMatchObject({ valid: true });
  });
});

it.each([
  [{}, 'subject_id: required'],
  [{ subject_id: '', ...request }, 'subject_id: must not be empty'],
  [{ subject_id: 'x'.repeat(256), ...request }, 'subject_id: must have at most 255 characters'],
  [{ subject_id: 'x', requested_by: 'y' }, 'reason: required'],
  [{ subject_id: 'x', reason: 'y' }, 'requested_by: required'],
])('the request %j is refused', async (body, message) => {
  expect(await api.refusal('POST', '/erasures', { body })).toEqual([400, `audit: ${message}`]);
});

it('the background marks what one request cannot', { timeout: 60_000 }, async () => {
  const own = tenant();
  for (let at = 0; at < 3; at++)
    await api.batch(
      Array.from({ length: 800 }, () => ({ user_id: 'anna' })),
      own,
    );
  const erasure = await erase('anna', own);
  expect(erasure.events_affected).toBe(2_400);
  // Nobody can read them from now on, whether they are marked or not.
  const { events } = await api.list('?limit=1000&category=data', own);
  expect(events.filter(({ erased, user_id }) => erased && user_id === null)).toHaveLength(1_000);
  expect(await api.verify({}, own)).toMatchObject({ valid: true, erased: 2_400 });
  const unmarked = () => server.db.sql`
    select from audit.events where tenant_id = ${own.headers!['X-Tenant-ID']!} and erasure_id is null and category = 'data' limit 1`;
  await expect.poll(async () => (await unmarked()).length, { timeout: 40_000 }).toBe(0);
  expect(await api.verify({}, own)).toMatchObject({ valid: true, erased: 2_400 });
});
