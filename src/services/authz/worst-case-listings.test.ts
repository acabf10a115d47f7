import { expect, test } from 'vitest';
import { onThisMachine, timeOf } from '../../testing/processor-time.ts';
import { listObjects, listSubjects } from './engine/listing.ts';
import type { Model } from './engine/model.ts';
import {
  assignment,
  check,
  emptyStore,
  fullModel,
  many,
  policy,
  role,
  testOptions,
  tuple,
} from './engine/testing.ts';
import { Slices, Turns } from './turns.ts';

/** Maximum milliseconds for which a listing may block the process, as in `worst-case.test.ts`. */
const longestBlockMs = onThisMachine(50);

/** Runs the pages of a listing. Returns the longest time between two pauses. */
async function listed(model: Model, ask: typeof listSubjects | typeof listObjects, question: string) {
  let longest = 0;
  const ids: string[] = [];
  let after: string | undefined;
  for (let page = 0; page < 3; page++) {
    const pace = new Slices(new Turns(), 'tenant');
    const options = { ...testOptions, limit: 1_000, budget: 60_000, clock: () => performance.now(), after };
    const listing = ask(model, check(question), options);
    for (;;) {
      pace.begin();
      const { result: step, took } = timeOf(() => listing.next());
      longest = Math.max(longest, took);
      pace.end();
      if (step.done === true) {
        ids.push(...step.value.ids);
        after = step.value.position;
        break;
      }
      await pace.pause();
    }
  }
  return { ids, longest };
}

test('listings over a group of 99,000 and over 99,000 objects', async () => {
  const members = many(99_000, (n) => tuple(`group:all#member@user:u${String(n).padStart(6, '0')}`));
  const files = many(99_000, (n) => tuple(`file:f${String(n).padStart(6, '0')}#viewer@user:all`));
  const model = fullModel(
    emptyStore({ tuples: [...members, ...files, tuple('file:1#viewer@group:all#member')] }),
  );
  for (const [ask, question] of [
    [listSubjects, 'user:? viewer file:1'],
    [listObjects, 'user:all viewer file'],
  ] as const) {
    let found = await listed(model, ask, question);
    for (let run = 1; run < 3 && found.longest > longestBlockMs; run++)
      found = await listed(model, ask, question);
    expect(found.ids).toHaveLength(3_000);
    expect(found.longest).toBeLessThan(longestBlockMs);
  }
}, 60_000);

test('a listing for a holder of 1,000 roles under policies that name 50,000', async () => {
  const policies = many(500, (n) =>
    policy(`p${n}`, { subjects: many(100, (at) => `role:x${at}n${n}`), resources: [`file:a${n}`] }),
  );
  const model = fullModel(
    emptyStore({
      policies: [...policies, policy('own', { subjects: ['role:r7'], resources: ['file:mine'] })],
      roles: many(1_000, (n) => role(`r${n}`)),
      assignments: many(1_000, (n) => assignment('user:a', `r${n}`, `folder:f${n}`)),
    }),
  );
  const { longest } = await listed(model, listObjects, 'user:a read file');
  expect(longest).toBeLessThan(longestBlockMs);
}, 120_000);
