/** The rules that a worker follows, apart from its loop. */
import { describe, expect, it, vi } from 'vitest';
import { duration, milliseconds } from '../src/runtime/worker/durations.ts';
import { messageOf } from '../src/runtime/worker/failures.ts';
import { workerName } from '../src/runtime/worker/name.ts';
import { pauseAfter } from '../src/runtime/worker/repetition.ts';
import { backoffMs } from '../src/runtime/worker/runs/backoff.ts';
import { type Result, takeBatch } from '../src/runtime/worker/results.ts';

describe('a batch of results', () => {
  const result = (bytes: number): Result => ({ jobId: 'j', end: { kind: 'completed', output: '', bytes } });

  it('has at most 1000 of them and 4 MiB', () => {
    const many = Array.from({ length: 1_500 }, () => result(10));
    expect([takeBatch(many).length, takeBatch(many).length, many.length]).toEqual([1_000, 500, 0]);
    const large = Array.from({ length: 100 }, () => result(65_536));
    expect(takeBatch(large).length).toBe(62);
    expect(takeBatch([result(10_000_000), result(1)]).length).toBe(1);
  });
});

describe('the pause after failures', () => {
  it('doubles up to five seconds, half of it by chance, or is what the server asks for', () => {
    expect([1, 2, 3, 10, 500].map((failures) => pauseAfter(failures, undefined, 1))).toEqual([
      200, 400, 800, 5_000, 5_000,
    ]);
    expect(pauseAfter(1, undefined, 0)).toBe(100);
  });
});

describe('what the server is told', () => {
  it('is an error that it can store, whatever was thrown', () => {
    const pair = '\u{1f600}';
    expect([new Error('no'), new TypeError(''), 'text', 7, ' \0 ', 'a\ud800b'].map(messageOf)).toEqual([
      'no',
      'TypeError',
      'text',
      'failed without a message',
      'failed without a message',
      'a\ufffdb',
    ]);
    expect([...messageOf(pair.repeat(5_000))]).toHaveLength(2_000);
  });

  it('is a duration in its format, never shorter than meant', () => {
    const bounds = [0, 3_600_000] as const;
    expect(['0', '250ms', '1m30s', '1.5s'].map((text) => milliseconds(text, 'x', bounds))).toEqual([
      0, 250, 90_000, 1_500,
    ]);
    for (const text of ['', '1', '1d', '-1s', '2h'])
      expect(() => milliseconds(text, 'x', bounds)).toThrow('x: ');
    expect([0, 0.2, 1_000, 1_500, 90_000].map(duration)).toEqual(['0s', '1ms', '1s', '1500ms', '90s']);
  });

  it('is the name of a worker where it runs', () => {
    expect(workerName()).toMatch(new RegExp(`:${process.pid}$`));
    vi.stubGlobal('process', undefined);
    const nameless = workerName();
    vi.unstubAllGlobals();
    expect(nameless).toMatch(/^worker-\w+$/);
  });

  it('is a delay that doubles up to a bound by chance, or is fixed', () => {
    const delays = [1, 2, 3, 20].map((attempt) => backoffMs({ delay: '2s', max: '1m' }, attempt, 1));
    expect(delays).toEqual([2_000, 4_000, 8_000, 60_000]);
    expect(backoffMs({ type: 'fixed', delay: '3s' }, 9, 0.5)).toBe(3_000);
  });
});
