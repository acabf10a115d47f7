import { expect, test } from 'vitest';
import { isId } from '../../lib/ids.ts';
import { jobIds, successor } from './job-ids.ts';

test('ids ascend, whatever the clock does', () => {
  const next = jobIds();
  const ids = Array.from({ length: 5_000 }, next);
  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every((id) => isId(id, 'job'))).toBe(true);
  const made = ['job_b0', 'job_az', 'job_c0'];
  const backwards = jobIds(() => made.shift()!);
  expect([backwards(), backwards(), backwards()]).toEqual(['job_b0', 'job_b1', 'job_c0']);
});

test.each([
  ['job_00', 'job_01'],
  ['job_09', 'job_0a'],
  ['job_0zz', 'job_100'],
])('%s is followed by %s', (id, next) => expect(successor(id)).toBe(next));
