import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Outcome, UsageRecord } from '../../../../generated/keys/types.ts';
import { idTime, newId } from '../../../lib/ids.ts';
import type { RefusalCount } from './journal.store.ts';
import { createRecorder, type Recorder } from './usage.ts';

let recorder: Recorder;
beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-11-20T09:59:30.000Z') });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A recorder whose commits the test completes or fails. */
function setUp({ backlog = 20_000 } = {}) {
  const commits: {
    records: readonly UsageRecord[];
    counts: readonly RefusalCount[];
    end(error?: Error): void;
  }[] = [];
  recorder = createRecorder({
    append: (records, counts) =>
      new Promise((resolve, reject) => {
        commits.push({ records, counts, end: (error) => (error === undefined ? resolve() : reject(error)) });
      }),
    backlog,
    log: pino({ level: 'silent' }),
  });
  return { recorder, commits };
}

function use(outcome: Outcome = 'VALID', key = 'key_1'): UsageRecord {
  const id = newId('kuse');
  const nothing = {
    method: null,
    endpoint: null,
    status_code: null,
    latency_ms: null,
    ip_address: null,
    origin: null,
  };
  return {
    ...nothing,
    id,
    key_id: key,
    tenant_id: 'acme',
    source: 'validation',
    outcome,
    cost: 1,
    user_agent: null,
    created_at: new Date(idTime(id)).toISOString(),
  };
}

/** Lets every ready promise continue. */
const settle = () => vi.advanceTimersByTimeAsync(0);

describe('a durable record', () => {
  it('is answered by the commit that contains it, never before', async () => {
    const { recorder, commits } = setUp();
    const answers: (string | null)[] = [];
    const record = use();
    void recorder.keep(record).then((id) => answers.push(id));
    await settle();
    expect(commits.map(({ records }) => records)).toEqual([[record]]);
    expect(answers).toEqual([]);
    commits[0]?.end();
    await settle();
    expect(answers).toEqual([record.id]);
  });

  it('shares a commit with all that arrived during the one before, 500 at most', async () => {
    const { recorder, commits } = setUp();
    void recorder.keep(use());
    await settle();
    for (let count = 0; count < 700; count++) void recorder.keep(use());
    await settle();
    expect(commits).toHaveLength(1);
    commits[0]?.end();
    await settle();
    commits[1]?.end();
    await settle();
    expect(commits.map(({ records }) => records.length)).toEqual([1, 500, 200]);
  });

  it('is refused with its commit, and the next one is tried anew', async () => {
    const { recorder, commits } = setUp();
    const failed = expect(recorder.keep(use())).rejects.toThrow('away');
    await settle();
    commits[0]?.end(new Error('away'));
    await failed;
    const kept = recorder.keep(use());
    await settle();
    commits[1]?.end();
    expect(await kept).toMatch(/^kuse_/);
  });
});

describe('a deferred record', () => {
  it('is answered at once and written within 100 ms, together with others', async () => {
    const { recorder, commits } = setUp();
    expect(recorder.defer(use())).toMatch(/^kuse_/);
    recorder.defer(use());
    await settle();
    expect(commits).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(100);
    expect(commits.map(({ records }) => records.length)).toEqual([2]);
  });

  it('is written again, with the same id, when its commit failed', async () => {
    const { recorder, commits } = setUp();
    const record = use();
    recorder.defer(record);
    await vi.advanceTimersByTimeAsync(100);
    commits[0]?.end(new Error('away'));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(commits.map(({ records }) => records)).toEqual([[record], [record]]);
  });

  it('is written before the recorder stops', async () => {
    const { recorder, commits } = setUp();
    recorder.defer(use());
    const stopped = recorder.stop();
    await settle();
    commits[0]?.end();
    await stopped;
    expect(commits).toHaveLength(1);
  });
});

describe('the backlog', () => {
  it('is bounded: beyond it every use is refused with Retry-After, until there is room again', async () => {
    const { recorder, commits } = setUp({ backlog: 1_000 });
    const kept = Array.from({ length: 600 }, () => recorder.keep(use()));
    for (let count = 0; count < 400; count++) recorder.defer(use());
    await settle();
    const refusal = { kind: 'rateLimited', retryAfter: 1 };
    expect(() => recorder.checkRoom()).toThrow(expect.objectContaining(refusal));
    expect(() => recorder.defer(use())).toThrow(expect.objectContaining(refusal));
    await expect(recorder.keep(use())).rejects.toMatchObject(refusal);
    await expect(recorder.keepAll([use()])).rejects.toMatchObject(refusal);
    commits[0]?.end();
    await settle();
    expect(() => recorder.checkRoom()).not.toThrow();
    commits[1]?.end();
    await Promise.all(kept);
  });

  it('is free again after commits that failed', async () => {
    const { recorder, commits } = setUp({ backlog: 10 });
    const kept = Array.from({ length: 10 }, () => recorder.keep(use()));
    const outcomes = Promise.allSettled(kept);
    await settle();
    commits[0]?.end(new Error('away'));
    await outcomes;
    expect(() => recorder.checkRoom()).not.toThrow();
  });
});

describe('refusals', () => {
  it('beyond 60 of a key in a minute are counted by hour and outcome instead of recorded', async () => {
    const { recorder, commits } = setUp();
    const ids: Promise<string | null>[] = [];
    for (let count = 0; count < 100; count++) ids.push(recorder.keep(use('RATE_LIMITED')));
    for (let count = 0; count < 50; count++) ids.push(recorder.keep(use('SUSPENDED')));
    ids.push(recorder.keep(use('VALID')), recorder.keep(use('SUSPENDED', 'key_2')));
    await settle();
    commits[0]?.end();
    const answered = await Promise.all(ids);
    expect(answered.filter((id) => id === null)).toHaveLength(90);
    expect(commits[0]?.records).toHaveLength(62);
    const hour = '2026-11-20T09:00:00.000Z';
    expect(commits[0]?.counts).toEqual([
      { tenant_id: 'acme', key_id: 'key_1', hour, outcome: 'RATE_LIMITED', count: 40 },
      { tenant_id: 'acme', key_id: 'key_1', hour, outcome: 'SUSPENDED', count: 50 },
    ]);
  });

  it('are recorded again in the next minute', async () => {
    const { recorder, commits } = setUp();
    for (let count = 0; count < 61; count++) recorder.defer(use('EXPIRED'));
    expect(recorder.defer(use('EXPIRED'))).toBeNull();
    vi.setSystemTime(Date.parse('2026-11-20T10:00:00.000Z'));
    expect(recorder.defer(use('EXPIRED'))).toMatch(/^kuse_/);
    await vi.advanceTimersByTimeAsync(100);
    expect(commits[0]?.records).toHaveLength(61);
    expect(commits[0]?.counts).toMatchObject([{ hour: '2026-11-20T09:00:00.000Z', count: 2 }]);
  });

  it('that are reported are records each, because their ids decide whether they are repeats', async () => {
    const { recorder, commits } = setUp();
    void recorder.keepAll(Array.from({ length: 100 }, () => use('RATE_LIMITED')));
    await settle();
    expect(commits[0]?.records).toHaveLength(100);
  });
});
