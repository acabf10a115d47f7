import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Conflict, Invalid, NotFound } from '../lib/errors.ts';
import { testDatabase, type TestDatabase } from '../testing/database.ts';
import { constrained, violation } from './constraints.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  await db.sql`create table things (id int, name text, constraint things_pkey primary key (id), constraint things_name_check check (name <> ''))`;
});
afterAll(() => db.close());

const ids = async () =>
  (await db.sql<{ id: number }[]>`select id from things order by id`).map(({ id }) => id);

test('values come back as the wire writes them', async () => {
  const [row] = await db.sql`
    select
      '2026-11-20T10:30:00.123987+01:00'::timestamptz as instant, '1900-01-01T00:00:00Z'::timestamptz as old,
      '2026-11-20T09:30:00.5Z'::timestamptz as half, 'infinity'::timestamptz as never, null::timestamptz as nothing,
      array['2026-11-20T09:30:00Z']::timestamptz[] as instants,
      9007199254740991::int8 as large, array[1, 2]::int8[] as numbers, 1.50::numeric as amount,
      '{"a": [1, null]}'::jsonb as document, date '2026-02-03' as day
  `;
  expect(row).toEqual({
    instant: '2026-11-20T09:30:00.123Z',
    old: '1900-01-01T00:00:00.000Z',
    half: '2026-11-20T09:30:00.500Z',
    never: 'infinity',
    nothing: null,
    instants: ['2026-11-20T09:30:00.000Z'],
    large: 9007199254740991,
    numbers: [1, 2],
    amount: '1.50',
    document: { a: [1, null] },
    day: '2026-02-03',
  });
});

test('arrays come back as they were given', async () => {
  const given = {
    flags: [true, false, null],
    bytes: [Buffer.from([0, 1, 255]), Buffer.from('')],
    large: [1, 9007199254740991],
    small: [-1, null, 2],
    texts: ['', 'a b', '"', '\\', 'NULL', null, '{x,y}', 'ü😀\n'],
    floats: [0.5, -1e300],
    instants: ['2026-11-20T09:30:00.123Z'],
    none: [] as string[],
  };
  const [row] = await db.sql`
    select ${db.sql.array(given.flags)}::boolean[] as flags, ${db.sql.array(given.bytes)}::bytea[] as bytes,
      ${given.large}::bigint[] as large, ${given.small}::integer[] as small, ${given.texts}::text[] as texts,
      ${given.floats}::float8[] as floats, ${given.instants}::timestamptz[] as instants, ${given.none}::text[] as none,
      array[array[1, 2], array[3, null]]::integer[] as nested`;
  expect(row).toEqual({
    ...given,
    nested: [
      [1, 2],
      [3, null],
    ],
  });
});

test('an integer that a number cannot hold is an error, not another integer', async () => {
  await expect(db.sql`select 9007199254740993::int8`).rejects.toThrow('9007199254740993');
  expect(await db.sql`select 1 as one`).toEqual([{ one: 1 }]);
});

test('a statement that fails after some of its rows leaves nothing behind for the next one', async () => {
  const failing = () => db.sql`select 1 / (3 - n) as part from generate_series(1, 5) as n`;
  const rows = () => db.sql`select n from generate_series(1, 2) as n`;
  const all = await Promise.allSettled(
    Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? failing() : rows())),
  );
  for (const [at, result] of all.entries())
    if (at % 2 === 0) expect(result).toMatchObject({ status: 'rejected', reason: { code: '22012' } });
    else expect(result).toEqual({ status: 'fulfilled', value: [{ n: 1 }, { n: 2 }] });
  const [first] = await rows();
  expect(first).toEqual({ n: 1 });
});

test('objects, arrays and times are parameters', async () => {
  const document = { text: 'it\'s "quoted" \\ 😀', nested: [{ a: null }] };
  const [row] = await db.sql`
    select
      ${document}::jsonb as document, ${[document]}::jsonb as list, ${['a', 'b,"c"']}::text[] as texts,
      ${['2026-11-20T09:30:00.123Z']}::timestamptz[] as instants, ${'2026-11-20T09:30:00.123Z'}::timestamptz as instant,
      ${new Date(0)}::timestamptz as epoch, ${Buffer.from([0, 255])}::bytea as bytes, ${[1, 2]}::int8[] as numbers
  `;
  expect(row).toEqual({
    document,
    list: [document],
    texts: ['a', 'b,"c"'],
    instants: ['2026-11-20T09:30:00.123Z'],
    instant: '2026-11-20T09:30:00.123Z',
    epoch: '1970-01-01T00:00:00.000Z',
    bytes: Buffer.from([0, 255]),
    numbers: [1, 2],
  });
});

test('undefined is refused: null must be said', async () => {
  await expect(async () => db.sql`select ${undefined as never}`).rejects.toThrow(
    'Undefined values are not allowed',
  );
});

describe('a transaction', () => {
  test('is there whole when it resolved', async () => {
    const result = await db.transaction(async (sql) => {
      await sql`insert into things (id) values (1)`;
      await sql`insert into things (id) values (2)`;
      return 'made';
    });
    expect(result).toBe('made');
    expect(await ids()).toEqual([1, 2]);
  });

  test('is not there at all when it threw, and the error is the one that was thrown', async () => {
    const before = await ids();
    const error = NotFound('thing');
    const failed = db.transaction(async (sql) => {
      await sql`insert into things (id) values (3)`;
      throw error;
    });
    await expect(failed).rejects.toBe(error);
    expect(await ids()).toEqual(before);
  });

  test('keeps others out of it, whatever they do meanwhile', async () => {
    const others = Array.from({ length: 40 }, (_, index) =>
      index % 4 === 0 ? db.sql`select 1 / 0`.catch(() => 'failed') : db.sql`select ${index}::int as value`,
    );
    const all = Array.from({ length: 20 }, (_, index) =>
      db.transaction(async (sql) => {
        await sql`insert into things (id) values (${100 + index})`;
        const [row] = await sql<{ id: number; padding: string }[]>`
          select id, ${'x'.repeat(100_000)}::text as padding from things where id = ${100 + index}
        `;
        return row?.id;
      }),
    );
    expect(await Promise.all(all)).toEqual(Array.from({ length: 20 }, (_, index) => 100 + index));
    const answers = await Promise.all(others);
    answers.forEach((answer, index) =>
      expect(answer).toEqual(index % 4 === 0 ? 'failed' : [{ value: index }]),
    );
  });
});

test('the handle of a transaction is dead when the transaction is over', async () => {
  const kept = await db.transaction(async (sql) => ({ sql }));
  expect(() => kept.sql`select 1`).toThrow(TypeError);
});

test('a transaction in which a statement failed does not pass for committed', async () => {
  const swallowed = db.transaction(async (sql) => {
    await sql`select 1 / 0`.catch(() => {});
  });
  await expect(swallowed).rejects.toThrow('one of its statements had failed');
});

describe('what is to happen after the commit', () => {
  test('has happened when the transaction resolves, and sees it', async () => {
    const order: string[] = [];
    await db.transaction(async (sql) => {
      db.afterCommit(sql, () => order.push('first'));
      db.afterCommit(sql, () => order.push('second'));
      await sql`select 1`;
      order.push('inside');
    });
    expect(order).toEqual(['inside', 'first', 'second']);
  });

  test('does not happen when the transaction is rolled back', async () => {
    let happened = false;
    const failed = db.transaction((sql) => {
      db.afterCommit(sql, () => (happened = true));
      return Promise.reject(new Error('no'));
    });
    await expect(failed).rejects.toThrow('no');
    expect(happened).toBe(false);
  });

  test('happens at once outside of a transaction', () => {
    let happened = false;
    db.afterCommit(db.sql, () => (happened = true));
    expect(happened).toBe(true);
  });
});

describe('constraints by name', () => {
  const constraints = {
    things_pkey: () => Conflict('thing already exists'),
    things_name_check: () => Invalid('name: must not be empty'),
  };

  test('become the error of their table', async () => {
    await db.sql`insert into things (id) values (200)`;
    const twice = constrained(constraints, db.sql`insert into things (id) values (200)`);
    await expect(twice).rejects.toMatchObject({ kind: 'conflict', message: 'thing already exists' });
    const unnamed = constrained(constraints, db.sql`insert into things (id, name) values (201, '')`);
    await expect(unnamed).rejects.toMatchObject({ kind: 'invalid', message: 'name: must not be empty' });
    expect(await constrained(constraints, db.sql`select 1 as one`)).toEqual([{ one: 1 }]);
  });

  test('of another table, and other errors, pass unchanged', async () => {
    await expect(constrained({}, db.sql`insert into things (id) values (200)`)).rejects.toMatchObject({
      code: '23505',
    });
    await expect(constrained(constraints, db.sql`select nothing`)).rejects.toMatchObject({ code: '42703' });
    expect(violation(new Error('no'), constraints)).toBeUndefined();
  });
});

test('vectors are at hand on the embedded engine', async ({ skip }) => {
  if (db.engine === 'postgres') skip('an extension of the server');
  await db.sql`create extension if not exists vector`;
  const [row] = await db.sql`select '[1,2]'::vector <-> '[1,4]'::vector as distance`;
  expect(row).toEqual({ distance: 2 });
});
