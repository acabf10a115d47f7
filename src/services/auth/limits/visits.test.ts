import { expect, test } from 'vitest';
import type { Context } from '../../../http/context.ts';
import { RateLimited } from '../../../lib/errors.ts';
import { limitedVisits } from './visits.ts';

const context = { ip: '203.0.113.7' } as Context;
const request = undefined as never;
const page = () => 'a page';
const full = { take: () => Promise.reject(RateLimited('too many requests', { retryAfter: 1 })) };

test('a visit is counted before it is answered', async () => {
  const counted: string[] = [];
  const limits = { take: async (what: string, ip: string) => void counted.push(`${what} ${ip}`) };
  const { authorize } = limitedVisits({ authorize: page }, limits);
  expect(await (authorize as (request: never, context: Context) => unknown)(request, context)).toBe('a page');
  expect(counted).toEqual(['visit 203.0.113.7']);
});

test('one too many is refused, but where nothing is limited', async () => {
  const group: Record<string, (request: never, context: Context) => unknown> = {
    authorize: page,
    revoke: page,
  };
  const { authorize, revoke } = limitedVisits(group, full, ['revoke']);
  await expect(authorize!(request, context)).rejects.toThrow('too many requests');
  expect(revoke!(request, context)).toBe('a page');
});
