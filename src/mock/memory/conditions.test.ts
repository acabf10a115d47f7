import { describe, expect, it } from 'vitest';
import { failedCondition, rangeOf, type Range } from './conditions.ts';

const version = { etag: '"a"', modified: new Date('2026-11-20T09:46:41.700Z') };
const [before, then, after] = ['40', '41', '42'].map((second) => `Fri, 20 Nov 2026 09:46:${second} GMT`);

describe('a condition', () => {
  it.each<[Record<string, unknown>, read: number | undefined, write: number | undefined]>([
    [{}, undefined, undefined],
    [{ 'If-Match': '"a"' }, undefined, undefined],
    [{ 'If-Match': '"b", "a"' }, undefined, undefined],
    [{ 'If-Match': '*' }, undefined, undefined],
    [{ 'If-Match': '"b"' }, 412, 412],
    [{ 'If-Match': 'W/"a"' }, 412, 412],
    [{ 'If-None-Match': '"a"' }, 304, 412],
    [{ 'If-None-Match': 'W/"a"' }, 304, 412],
    [{ 'If-None-Match': '*' }, 304, 412],
    [{ 'If-None-Match': '"b"' }, undefined, undefined],
    [{ 'If-Modified-Since': then }, 304, undefined],
    [{ 'If-Modified-Since': before }, undefined, undefined],
    [{ 'If-Modified-Since': 'some day' }, undefined, undefined],
    [{ 'If-None-Match': '"b"', 'If-Modified-Since': after }, undefined, undefined],
    [{ 'If-Unmodified-Since': before }, 412, 412],
    [{ 'If-Unmodified-Since': then }, undefined, undefined],
    [{ 'If-Match': '"a"', 'If-Unmodified-Since': before }, undefined, undefined],
    [{ 'If-Match': '"a"', 'If-None-Match': '"a"' }, 304, 412],
  ])('%o', (conditions, read, write) => {
    expect(failedCondition(conditions, version, true)).toBe(read);
    expect(failedCondition(conditions, version, false)).toBe(write);
  });

  it.each([
    [{ 'If-Match': '*' }, 412],
    [{ 'If-None-Match': '*' }, undefined],
    [{ 'If-Unmodified-Since': before }, undefined],
  ])('%o where nothing is', (conditions, status) =>
    expect(failedCondition(conditions, undefined, false)).toBe(status),
  );
});

it.each<[Record<string, unknown>, Range | 'unsatisfiable' | undefined]>([
  [{}, undefined],
  [{ Range: 'bytes=0-0' }, { first: 0, last: 0 }],
  [{ Range: 'bytes=2-4' }, { first: 2, last: 4 }],
  [{ Range: 'bytes=7-' }, { first: 7, last: 9 }],
  [{ Range: 'bytes=-3' }, { first: 7, last: 9 }],
  [{ Range: 'bytes=-30' }, { first: 0, last: 9 }],
  [{ Range: 'bytes=5-99' }, { first: 5, last: 9 }],
  [{ Range: 'bytes=10-' }, 'unsatisfiable'],
  [{ Range: 'bytes=-0' }, 'unsatisfiable'],
  [{ Range: 'bytes=4-2' }, undefined],
  [{ Range: 'bytes=0-1,4-5' }, undefined],
  [{ Range: 'lines=0-1' }, undefined],
  [
    { Range: 'bytes=0-1', 'If-Range': '"a"' },
    { first: 0, last: 1 },
  ],
  [
    { Range: 'bytes=0-1', 'If-Range': then },
    { first: 0, last: 1 },
  ],
  [{ Range: 'bytes=0-1', 'If-Range': '"b"' }, undefined],
  [{ Range: 'bytes=0-1', 'If-Range': before }, undefined],
])('%o of ten bytes: %o', (conditions, range) => expect(rangeOf(conditions, 10, version)).toEqual(range));
