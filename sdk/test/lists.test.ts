import { describe, expect, it } from 'vitest';
import { serve, type Received } from './server.ts';
import { all, failureOf, things } from './things.ts';

const total = 25;

/** A list of 25 items with pages of 10, by cursor or by offset, as the operation requires. */
function list({ url }: Received, next: (place: number) => Record<string, string>) {
  const query = new URL(url, 'http://host').searchParams;
  const from = Number(query.get('cursor') ?? query.get('offset') ?? 0);
  const limit = Number(query.get('limit') ?? 10);
  const body = Array.from({ length: Math.max(0, Math.min(limit, total - from)) }, (_, at) => ({
    id: from + at,
  }));
  return { body, headers: from + limit < total ? next(from + limit) : {} };
}
const byCursor = (request: Received) => list(request, (place) => ({ 'X-Next-Cursor': String(place) }));
const byOffset = (request: Received) => list(request, () => ({}));
const queries = (requests: readonly Received[]) => requests.map(({ url }) => url.split('?')[1] ?? '');

describe('a list', () => {
  it('is its first page when awaited', async () => {
    const { url, requests } = await serve(byCursor);
    const page = await things({ baseUrl: url }).list({ limit: 3 });
    expect(page.map(({ id }) => id)).toEqual([0, 1, 2]);
    expect(requests).toHaveLength(1);
  });

  it('is everything when walked, page by page from cursor to cursor, with the same filters', async () => {
    const { url, requests } = await serve(byCursor);
    const seen = await all(things({ baseUrl: url }).list({ search: 'x' }));
    expect(seen.map(({ id }) => id)).toEqual(Array.from({ length: total }, (_, at) => at));
    expect(queries(requests)).toEqual(['search=x', 'search=x&cursor=10', 'search=x&cursor=20']);
  });

  it('goes on by cursor alone after an offset', async () => {
    const { url, requests } = await serve(byCursor);
    await all(things({ baseUrl: url }).list({ offset: 5 }));
    expect(queries(requests)).toEqual(['offset=5', 'cursor=15']);
  });

  it('asks for a page only when the loop gets there', async () => {
    const { url, requests } = await serve(byCursor);
    for await (const { id } of things({ baseUrl: url }).list()) {
      if (id === 9) expect(requests).toHaveLength(1);
      if (id === 10) break;
    }
    expect(requests).toHaveLength(2);
  });

  it('asks for its first page once, however often it is awaited and walked', async () => {
    const { url, requests } = await serve(byCursor);
    const answer = things({ baseUrl: url }).list({ limit: 100 });
    await answer;
    const { data } = await answer.response();
    expect(await all(answer)).toEqual(data);
    expect(requests).toHaveLength(1);
  });

  it('is walked over a short page, whose cursor says that more follows', async () => {
    const pages = [[{ id: 1 }], [], [{ id: 2 }]];
    let turn = 0;
    const { url } = await serve(() => {
      const body = pages[turn];
      turn += 1;
      return { body, headers: turn < 3 ? { 'X-Next-Cursor': `c${turn}` } : {} };
    });
    expect(await all(things({ baseUrl: url }).list())).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it('is walked by offset where the operation has no cursor', async () => {
    const { url, requests } = await serve(byOffset);
    expect(await all(things({ baseUrl: url }).listByOffset({ limit: 10 }))).toHaveLength(total);
    expect(queries(requests)).toEqual(['limit=10', 'limit=10&offset=10', 'limit=10&offset=20']);
    expect(await all(things({ baseUrl: url }).listByOffset())).toHaveLength(total);
  });

  it('ends with the error of the page that fails, after the items before it', async () => {
    const { url } = await serve((request) =>
      request.url.includes('cursor=20') ? { status: 404, body: { error: 'gone' } } : byCursor(request),
    );
    const seen: number[] = [];
    const walk = async () => {
      for await (const { id } of things({ baseUrl: url }).list()) seen.push(id);
    };
    expect(await failureOf(walk())).toMatchObject({ status: 404, operation: 'things.things.list' });
    expect(seen).toHaveLength(20);
  });

  it('ends at once when the signal aborts, also in the middle of a page', async () => {
    const { url, requests } = await serve(byCursor);
    const controller = new AbortController();
    const seen: number[] = [];
    const walk = async () => {
      for await (const { id } of things({ baseUrl: url }).list({}, { signal: controller.signal })) {
        seen.push(id);
        if (id === 4) controller.abort(new Error('enough'));
      }
    };
    expect(await failureOf(walk())).toMatchObject({ kind: 'abort', cause: { message: 'enough' } });
    expect([seen.length, requests.length]).toEqual([5, 1]);
  });

  it('does not run in circles when the server does', async () => {
    const { url } = await serve(() => ({ body: [{ id: 1 }], headers: { 'X-Next-Cursor': 'same' } }));
    expect(await failureOf(all(things({ baseUrl: url }).list()))).toMatchObject({ kind: 'protocol' });
  });
});

describe('a list in an envelope', () => {
  const wrapped = (request: Received) => {
    const { body, headers } = byCursor(request);
    return { body: { data: body, pagination: { total, has_more: 'X-Next-Cursor' in headers } } };
  };
  const marked = (request: Received) => {
    const { body, headers } = list(request, (place) => ({ next: String(place) }));
    return { body: { things: body, next_cursor: headers['next'] ?? null } };
  };

  it('is the whole envelope when awaited, so that its totals are seen', async () => {
    const { url, requests } = await serve(wrapped);
    const { data, pagination } = await things({ baseUrl: url }).listWrapped({ limit: 2 });
    expect([data.length, pagination]).toEqual([2, { total, has_more: true }]);
    expect(requests).toHaveLength(1);
  });

  it('is everything when walked by offset, to where it says that no more follow', async () => {
    const { url, requests } = await serve(wrapped);
    const seen = await all(things({ baseUrl: url }).listWrapped({ offset: 1 }));
    expect(seen.map(({ id }) => id)).toEqual(Array.from({ length: total - 1 }, (_, at) => at + 1));
    expect(queries(requests)).toEqual(['offset=1', 'offset=11', 'offset=21']);
  });

  it('ends at an empty page, whatever that says', async () => {
    const { url, requests } = await serve(() => ({ body: { data: [], pagination: { has_more: true } } }));
    expect(await all(things({ baseUrl: url }).listWrapped())).toEqual([]);
    expect(requests).toHaveLength(1);
  });

  it('is everything when walked by the cursor in its body', async () => {
    const { url, requests } = await serve(marked);
    const seen = await all(things({ baseUrl: url }).listMarked({ limit: 10 }));
    expect(seen.map(({ id }) => id)).toEqual(Array.from({ length: total }, (_, at) => at));
    expect(queries(requests)).toEqual(['limit=10', 'limit=10&cursor=10', 'limit=10&cursor=20']);
  });

  it('goes on over an empty page that has a cursor', async () => {
    const { url } = await serve(({ url: asked }) => ({
      body: asked.includes('cursor')
        ? { things: [{ id: 1 }], next_cursor: '' }
        : { things: [], next_cursor: 'more' },
    }));
    expect(await all(things({ baseUrl: url }).listMarked())).toEqual([{ id: 1 }]);
  });

  it('does not run in circles, however wide they are', async () => {
    const { url, requests } = await serve(({ url: asked }) => ({
      body: { things: [{ id: 1 }], next_cursor: asked.endsWith('cursor=a') ? 'b' : 'a' },
    }));
    expect(await failureOf(all(things({ baseUrl: url }).listMarked()))).toMatchObject({ kind: 'protocol' });
    expect(requests).toHaveLength(3);
  });

  it('is an error where the items are missing', async () => {
    const { url } = await serve(() => ({ body: { error: null } }));
    const failure = await failureOf(all(things({ baseUrl: url }).listMarked()));
    expect(failure).toMatchObject({ kind: 'protocol', operation: 'things.things.listMarked' });
  });
});
