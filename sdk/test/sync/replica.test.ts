import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { memoryStorage } from '../../src/sync/replica/memory.ts';
import { FakeServer, refusal } from './fake-server.ts';
import { eventually, open, shown, shownBy, until } from './replicas.ts';

describe('a replica without a connection', () => {
  it('writes and reads registers, counters and sets', async () => {
    const notes = (await open(new FakeServer())).table('notes');
    await notes.set('n1', { title: 'Shopping', done: false, more: { a: [1, null] } });
    await notes.increment('n1', 'views', 5);
    await notes.increment('n1', 'views', -2);
    await notes.add('n1', 'tags', 'urgent', { a: 1 }, 'urgent');
    await notes.remove('n1', 'tags', 'urgent');
    await notes.add('n1', 'tags', 2);
    expect(await notes.get('n1')).toEqual({
      ...{ title: 'Shopping', done: false, more: { a: [1, null] } },
      ...{ views: 3, tags: [2, { a: 1 }] },
    });
    await notes.set('n2', { title: 'Other' });
    expect((await notes.list(({ fields }) => fields.title === 'Other')).map(({ pk }) => pk)).toEqual(['n2']);
    await notes.delete('n1');
    expect(await notes.get('n1')).toBeUndefined();
    await notes.increment('n1', 'views');
    expect(await notes.get('n1')).toEqual({ views: 1 });
  });

  it('counts what is to be pushed by cells, and tells listeners what changed', async () => {
    const replica = await open(new FakeServer());
    const notes = replica.table('notes');
    const changed: string[][] = [];
    const end = notes.subscribe((pks) => void changed.push([...pks]));
    for (let round = 0; round < 50; round += 1) await notes.set('n1', { title: `Draft ${round}` });
    await notes.remove('n1', 'tags', 'absent');
    await until(replica, ({ pending }) => pending === 1);
    end();
    await notes.set('n2', { title: 'x' });
    expect(changed).toEqual(Array(50).fill(['n1']));
    expect(replica.status).toMatchObject({ state: 'offline' });
  });

  it.each<[string, (notes: ReturnType<Awaited<ReturnType<typeof open>>['table']>) => Promise<void>]>([
    ['title: must be JSON', (notes) => notes.set('n', { title: undefined })],
    ['title: at most 262144 bytes', (notes) => notes.set('n', { title: 'x'.repeat(262_143) })],
    ['tags: at most 4096 bytes', (notes) => notes.add('n', 'tags', 'x'.repeat(4_095))],
    ['title: strings must not contain lone surrogates', (notes) => notes.set('n', { title: '\ud800' })],
    ['"": a record has a key', (notes) => notes.delete('')],
    ['a field is named', (notes) => notes.set('n', { ['x'.repeat(129)]: 1 })],
    ['views: the step of a counter must be an integer', (notes) => notes.increment('n', 'views', 0.5)],
    ['views: the totals of a counter', (notes) => notes.increment('n', 'views', 2 ** 40)],
  ])('refuses at once what the server would refuse: %s', async (message, edit) => {
    const replica = await open(new FakeServer());
    const notes = replica.table('notes');
    await expect(edit(notes)).rejects.toThrow(message);
    expect(await notes.list()).toEqual([]);
  });

  it('keeps its id in its storage, and has a new one when that is lost', async () => {
    const [server, storage] = [new FakeServer(), memoryStorage()];
    const first = await open(server, { storage });
    await first.table('notes').set('n', { title: 'kept' });
    await first.stop();
    const second = await open(server, { storage });
    expect(second.nodeId).toBe(first.nodeId);
    expect(await second.table('notes').get('n')).toEqual({ title: 'kept' });
    await expect(open(server, { storage, nodeId: 'other' })).rejects.toThrow('belongs to the replica');
    expect((await open(server)).nodeId).not.toBe(first.nodeId);
  });

  it('knows its tables only', async () => {
    const server = new FakeServer();
    expect(() => server.requests).not.toThrow();
    const replica = await open(server);
    expect(() => replica.table('others')).toThrow('not a table of this replica');
    await expect(open(server, { tables: [] })).rejects.toThrow('1 to 32');
    await expect(open(server, { tables: ['a b'] })).rejects.toThrow('not the name of a table');
    expect(server.requests).toEqual([]);
  });
});

describe('replicas with a connection', () => {
  it('show the edits of others as they are made', async () => {
    const server = new FakeServer();
    const [one, other] = [await open(server), await open(server)];
    await one.table('notes').set('n', { title: 'before' });
    await Promise.all([one.live(), other.live()]);
    await eventually(() => other.table('notes').get('n')).toEqual({ title: 'before' });
    const heard = new Promise((resolve) => other.table('notes').subscribe((pks) => resolve([...pks])));
    await one.table('notes').set('n', { title: 'after' });
    expect(await heard).toEqual(['n']);
    await eventually(() => other.table('notes').get('n')).toEqual({ title: 'after' });
    await one.flush();
    expect(one.status).toMatchObject({ state: 'live', pending: 0 });
  });

  it('merge what was edited on both sides while they were apart', async () => {
    const server = new FakeServer();
    const [one, other] = [await open(server), await open(server)];
    await one.table('notes').set('n', { title: 'start', body: 'start' });
    await one.table('notes').add('n', 'tags', 'a', 'b');
    await one.flush();
    await other.live();
    await eventually(() => other.table('notes').get('n')).toEqual({
      title: 'start',
      body: 'start',
      tags: ['a', 'b'],
    });
    let isApart = true;
    server.intercept = () => {
      if (isApart) throw new TypeError('fetch failed');
      return undefined;
    };
    server.cut();
    await until(one, ({ state }) => state === 'offline');
    await one.table('notes').set('n', { title: 'one' });
    await one.table('notes').increment('n', 'views', 2);
    await one.table('notes').remove('n', 'tags', 'a');
    await other.table('notes').set('n', { body: 'other' });
    await other.table('notes').increment('n', 'views', 3);
    await other.table('notes').add('n', 'tags', 'a', 'c');
    isApart = false;
    await Promise.all([one.flush(), other.flush()]);
    const expected = { title: 'one', body: 'other', views: 5, tags: ['a', 'b', 'c'] };
    await eventually(() => one.table('notes').get('n')).toEqual(expected);
    await eventually(() => other.table('notes').get('n')).toEqual(expected);
  });

  it('push again when the answer was lost, and count once', async () => {
    const server = new FakeServer();
    let lost = 0;
    const fetch = async (request: Request) => {
      const response = await server.fetch(request);
      if (!request.url.endsWith('/push') || lost === 3) return response;
      lost += 1;
      throw new TypeError('fetch failed');
    };
    const one = await open(server, { fetch });
    await one.table('notes').increment('n', 'views', 7);
    await one.flush();
    expect(lost).toBe(3);
    expect(shownBy(server)).toEqual({ 'notes\nn': { views: 7 } });
    await one.table('notes').increment('n', 'views', 2);
    await one.flush();
    expect(shownBy(server)).toEqual({ 'notes\nn': { views: 9 } });
  });

  it('push what was edited during a push', async () => {
    const server = new FakeServer();
    const one = await open(server);
    await one.table('notes').set('n', { title: 'first' });
    let edited: Promise<void> | undefined;
    server.intercept = (path) => {
      if (path === '/push') edited ??= one.table('notes').set('n', { title: 'second' });
      return undefined;
    };
    await one.flush();
    await edited;
    await eventually(() => shownBy(server)).toEqual({ 'notes\nn': { title: 'second' } });
  });

  it('push at most 1,000 changes at once', async () => {
    const server = new FakeServer();
    const one = await open(server);
    const many = Object.fromEntries(Array.from({ length: 2_500 }, (_, at) => [`f${at}`, at]));
    await one.table('notes').set('n', many);
    await one.flush();
    const pushes = server.requests.filter(({ path }) => path === '/push');
    expect(pushes.map(({ body }) => (body as { Changes: unknown[] }).Changes.length)).toEqual([
      1000, 1000, 500,
    ]);
    expect(shownBy(server)).toEqual({ 'notes\nn': many });
  });

  it('push large values in several requests', async () => {
    const server = new FakeServer();
    const one = await open(server);
    const large = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`f${at}`, 'x'.repeat(260_000)]));
    await one.table('notes').set('n', large);
    await one.flush();
    const sizes = server.requests
      .filter(({ path }) => path === '/push')
      .map(({ body }) => JSON.stringify(body).length);
    expect(sizes).toHaveLength(2);
    expect(Math.max(...sizes)).toBeLessThan(8_388_608);
  });

  it('skip kinds of fields that they do not know', async () => {
    const server = new FakeServer();
    const [one, other] = [await open(server), await open(server)];
    await one.table('notes').set('n', { title: 'x' });
    await one.flush();
    let pulled = 0;
    const fetch = async (request: Request) => {
      const response = await server.fetch(request);
      if (!request.url.endsWith('/pull')) return response;
      const page = (await response.json()) as { Changes: { crdt_type: string; field: string }[] };
      pulled += page.Changes.length;
      const [change] = page.Changes;
      if (change) page.Changes.push({ ...change, crdt_type: 'list', field: 'items' });
      return Response.json(page);
    };
    const third = await open(server, { fetch });
    await Promise.all([third.live(), other.live()]);
    expect(pulled).toBe(1);
    expect(await third.table('notes').get('n')).toEqual({ title: 'x' });
  });

  it('pull a table that is added later, and nothing of tables that are not theirs', async () => {
    const [server, storage] = [new FakeServer(), memoryStorage()];
    const one = await open(server, { tables: ['notes', 'tags'] });
    await one.table('notes').set('n', { title: 'x' });
    await one.table('tags').set('t', { name: 'y' });
    await one.flush();
    const narrow = await open(server, { storage });
    await narrow.live();
    expect(await shown(narrow)).toEqual({ 'notes\nn': { title: 'x' } });
    await narrow.stop();
    const wide = await open(server, { storage, tables: ['notes', 'tags'] });
    await wide.live();
    expect(await shown(wide, ['notes', 'tags'])).toEqual({
      'notes\nn': { title: 'x' },
      'tags\nt': { name: 'y' },
    });
  });

  it('keep edits while they lack the right to push them', async () => {
    const server = new FakeServer();
    const one = await open(server);
    await one.table('notes').set('n', { title: 'x' });
    let refusals = 0;
    server.intercept = (path) =>
      path === '/push' && (refusals += 1) < 4 ? refusal(403, 'forbidden') : undefined;
    one.start();
    await until(one, ({ state, error }) => state === 'offline' && error instanceof Error);
    await one.flush();
    expect(one.dropped).toEqual([]);
    expect(shownBy(server)).toEqual({ 'notes\nn': { title: 'x' } });
  });

  it.each([
    [403, 'forbidden'],
    [409, 'limit reached: 256 tables'],
  ])('read what others write while their pushes are refused with %i', async (status, message) => {
    const server = new FakeServer();
    const [one, other] = [await open(server), await open(server)];
    await other.table('notes').set('theirs', { title: 'x' });
    await other.flush();
    server.intercept = (path) => (path === '/push' ? refusal(status, message) : undefined);
    await one.table('notes').set('mine', { title: 'y' });
    one.start();
    await eventually(() => one.table('notes').get('theirs')).toEqual({ title: 'x' });
    expect(await one.table('notes').get('mine')).toEqual({ title: 'y' });
    expect(one.status.pending).toBe(1);
  });

  it('go on when a listener throws, which is an error that nobody caught', async () => {
    const uncaught: unknown[] = [];
    const later = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation((task) => {
      Promise.resolve()
        .then(task)
        .catch((error: unknown) => uncaught.push(error));
    });
    onTestFinished(() => later.mockRestore());
    const fails = () => {
      throw new Error('of the program');
    };
    const server = new FakeServer();
    const [one, other] = [await open(server, { onDropped: fails }), await open(server)];
    const heard: string[] = [];
    one.onStatus(fails);
    one.table('notes').subscribe(fails);
    one.table('notes').subscribe((pks) => heard.push(...pks));
    await one.live();
    await one.table('notes').set('mine', { title: 'x' });
    await one.flush();
    await other.table('notes').set('theirs', { title: 'y' });
    await other.flush();
    await eventually(() => heard).toEqual(['mine', 'theirs']);
    server.intercept = (path) => (path === '/push' ? refusal(403, 'no bad words') : undefined);
    await one.table('notes').set('bad', { title: 'z' });
    await one.flush();
    expect(one.status.state).not.toBe('offline');
    expect(uncaught).toContainEqual(new Error('of the program'));
  });

  it('that share a storage stop with an edit on its way, which is durable', async () => {
    const storage = { ...memoryStorage(), shared: 'a-storage-of-tabs' };
    const one = await open(new FakeServer(), { storage });
    const edit = one.table('notes').set('n', { title: 'x' });
    await one.stop();
    await edit;
    const again = await open(new FakeServer(), { storage });
    expect(await again.table('notes').get('n')).toEqual({ title: 'x' });
  });

  it('give up the edit that the server refuses, and show what the server has', async () => {
    const server = new FakeServer();
    const [one, other] = [await open(server), await open(server)];
    await other.table('notes').set('n3', { title: 'theirs' });
    await other.flush();
    await one.live();
    server.intercept = (path, body) =>
      path === '/push' && JSON.stringify(body).includes('bad') ? refusal(403, 'no bad words') : undefined;
    for (let at = 0; at < 8; at += 1)
      await one.table('notes').set(`n${at}`, { title: at === 3 ? 'bad' : 'good', at });
    await one.flush();
    expect(one.dropped).toEqual([
      expect.objectContaining({ reason: 'refused', message: expect.stringContaining('no bad words') }),
    ]);
    expect(one.dropped[0]?.change).toMatchObject({ pk: 'n3', field: 'title', value: 'bad' });
    await eventually(() => shown(one)).toEqual(shownBy(server));
    expect(await one.table('notes').get('n3')).toEqual({ title: 'theirs', at: 3 });
  });
});

describe('a replica with a wrong clock', () => {
  it.each([
    ['an hour behind', -3_600_000],
    ['a year ahead', 31_536_000_000],
  ])('writes by the clock of the server: %s', async (_, wrong) => {
    const server = new FakeServer();
    const one = await open(server, { now: () => server.now() + wrong });
    await one.table('notes').set('n', { title: 'before it knew' });
    await one.table('notes').add('n', 'tags', 'a', 'b');
    await one.table('notes').remove('n', 'tags', 'a');
    await one.table('notes').delete('m');
    await one.table('notes').increment('m', 'views', 4);
    await one.flush();
    await one.table('notes').set('n', { later: true });
    await one.flush();
    const expected = {
      'notes\nm': { views: 4 },
      'notes\nn': { later: true, tags: ['b'], title: 'before it knew' },
    };
    expect(shownBy(server)).toEqual(expected);
    expect(await shown(one)).toEqual(expected);
    for (const { hlc } of [...server.cells().values()].flat())
      expect(Math.abs(parseInt(hlc.slice(0, 12), 16) - server.now())).toBeLessThan(
        wrong < 0 ? 3_600_001 : 1_000,
      );
  });

  it('wins with a new edit over its own earlier ones after its clock was set back', async () => {
    const server = new FakeServer();
    let wrong = 4_900;
    const one = await open(server, { now: () => server.now() + wrong });
    await one.table('notes').set('n', { title: 'old' });
    await one.live();
    await one.flush();
    wrong = 10_000;
    await one.table('notes').set('n', { title: 'new' });
    await one.flush();
    await eventually(() => shownBy(server)).toEqual({ 'notes\nn': { title: 'new' } });
  });
});

describe('a replica that was away too long', () => {
  it('begins again: keeps its own new records, and gives up edits of what was deleted', async () => {
    const server = new FakeServer();
    let isAway = false;
    const fetch = (request: Request) =>
      isAway ? Promise.reject(new TypeError('fetch failed')) : server.fetch(request);
    const [one, other] = [await open(server), await open(server, { fetch })];
    for (const pk of ['deleted', 'edited', 'kept']) await one.table('notes').set(pk, { title: pk });
    await one.table('notes').add('kept', 'tags', 'a', 'b');
    await one.flush();
    await other.live();
    await eventually(() => shown(other)).toEqual(shownBy(server));
    isAway = true;
    server.cut();
    await until(other, ({ state }) => state === 'offline');
    await other.table('notes').set('edited', { title: 'late', more: 1 });
    await other.table('notes').set('new', { title: 'mine' });
    await other.table('notes').increment('new', 'views', 3);
    await other.table('notes').add('new', 'tags', 'x', 'y');
    await other.table('notes').remove('new', 'tags', 'y');
    await other.table('notes').set('kept', { extra: true });
    await other.table('notes').remove('kept', 'tags', 'b');
    server.now = () => 1_795_168_000_000 + 604_800_000;
    await one.table('notes').delete('deleted');
    await one.table('notes').delete('edited');
    await one.table('notes').remove('kept', 'tags', 'a');
    await one.flush();
    server.forget();
    isAway = false;
    const states: string[] = [];
    other.onStatus(({ state }) => void states.push(state));
    await other.flush();
    expect(states).toContain('resyncing');
    const expected = {
      'notes\nkept': { title: 'kept', extra: true },
      'notes\nnew': { title: 'mine', views: 3, tags: ['x'] },
    };
    await eventually(() => shown(other)).toEqual(expected);
    expect(shownBy(server)).toEqual(expected);
    expect(other.dropped.map(({ reason, change }) => [reason, change.pk, change.field]).sort()).toEqual([
      ['deleted', 'edited', 'more'],
      ['deleted', 'edited', 'title'],
    ]);
    await one.live();
    await eventually(() => shown(one)).toEqual(expected);
  });

  it('begins again after the database was set back, and does not count twice', async () => {
    const server = new FakeServer();
    const one = await open(server);
    await one.table('notes').increment('n', 'views', 5);
    await one.flush();
    await one.live();
    server.epoch = '00000001';
    server.cut();
    await one.table('notes').increment('n', 'views', 1);
    await one.flush();
    await eventually(() => shownBy(server)).toEqual({ 'notes\nn': { views: 6 } });
    expect(await one.table('notes').get('n')).toEqual({ views: 6 });
  });
});

describe('presence', () => {
  it('shows who else is on a topic', async () => {
    const server = new FakeServer();
    const [one, other] = [await open(server), await open(server)];
    await one.live();
    await one.presence('notes:n').set({ name: 'Ada' });
    const others = other.presence('notes:n');
    await other.live();
    const names = () => others.others.map(({ NodeID, Data }) => [NodeID, Data]);
    await eventually(names).toEqual([[one.nodeId, { name: 'Ada' }]]);
    await one.presence('notes:n').set({ name: 'Ada Lovelace' });
    await eventually(names).toEqual([[one.nodeId, { name: 'Ada Lovelace' }]]);
    await others.set({ name: 'Charles' });
    expect(names()).toHaveLength(1);
    await one.stop();
    await eventually(names).toEqual([]);
  });
});
