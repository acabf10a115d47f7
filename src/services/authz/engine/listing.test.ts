import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareCodePoints, inOrder } from './code-points.ts';
import { decide } from './decide.ts';
import { idsInPolicies } from './known-ids.ts';
import { listObjects, listSubjects } from './listing.ts';
import type { Model } from './model.ts';
import { Pacing } from './pacing.ts';
import { randomCheck, randomStore } from './random-store.ts';
import {
  assignment,
  check,
  decideWith,
  emptyStore,
  fullModel,
  knownIds,
  testNow,
  testOptions,
} from './testing.ts';
import { partialModel, permission, policy, randomFrom, role, runListing, tuple } from './testing.ts';
import type { Store } from './testing.ts';
import type { CheckInput, Listing, ListOptions } from './types.ts';

const steadyClock = () => 0;
const list: ListOptions = { ...testOptions, limit: 100, budget: 1_000, clock: steadyClock };

function idsNamed(model: Model, type: string, asSubject: boolean): string[] {
  const step = idsInPolicies(model, type, asSubject, new Pacing(model, list)).next();
  return step.done === true ? step.value : [];
}

/** Returns all pages of a listing, with `all` and `others` of the first. */
function pages(model: Model, store: Store, ask: (options: ListOptions) => Listing, options: ListOptions) {
  const ids: string[] = [];
  let all: boolean | undefined;
  let others: boolean | undefined;
  let after: string | undefined;
  for (let count = 0; count < 1_000; count++) {
    const page = runListing(model, store, ask({ ...options, after }));
    expect(page.ids.length).toBeLessThanOrEqual(options.limit);
    ids.push(...page.ids);
    all ??= page.all;
    others ??= page.others;
    if (page.complete) {
      expect(page.position).toBe('');
      return { ids, all, others };
    }
    after = page.position;
  }
  throw new Error('the listing does not end');
}

test('list-objects = list-subjects = check for all known ids, for any limit, budget, walk and mode', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = randomFrom(seed);
      const store = randomStore(random);
      const full = fullModel(store);
      let ticks = 0;
      const clock = random(2) === 0 ? steadyClock : () => (ticks += random(30));
      const options = {
        ...list,
        limit: 1 + random(3),
        budget: 1 + random(40),
        clock,
        walk: random(3) === 0 ? 2 : 100,
      };
      const input = randomCheck(random);
      const allowed = (parts: Partial<CheckInput>) => decideWith(full, store, { ...input, ...parts }).allowed;
      for (const model of [full, partialModel(store)]) {
        const type = input.resource_type;
        const known = inOrder([...knownIds(store, type), ...idsNamed(full, type, false)], undefined);
        const objects = pages(model, store, (each) => listObjects(model, input, each), options);
        expect(objects.ids).toEqual(known.filter((resource_id) => allowed({ resource_id })));
        if (objects.all) expect(allowed({ resource_id: 'never seen' })).toBe(true);

        const kind = input.subject_kind;
        const subjects = pages(model, store, (each) => listSubjects(model, input, each), options);
        const knownSubjects = inOrder([...knownIds(store, kind), ...idsNamed(full, kind, true)], undefined);
        expect(subjects.ids).toEqual(knownSubjects.filter((subject_id) => allowed({ subject_id })));
        const stranger = allowed({ subject_id: 'never seen' });
        if (subjects.all) expect(knownSubjects.every((subject_id) => allowed({ subject_id }))).toBe(true);
        if (subjects.all) expect(subjects.others).toBe(true);
        if (subjects.others) expect(stranger).toBe(true);
        // Without policies, `others` is exact.
        if (store.policies.length === 0) expect(subjects.others).toBe(stranger);
        if (objects.others) expect(allowed({ resource_id: 'never seen' })).toBe(true);
      }
    }),
    { numRuns: 3_000 },
  );
}, 60_000);

test('what is reached through folders in folders is listed, in both modes and both directions', () => {
  const item = (name: string) => ({
    id: `rtype_${name}`,
    name,
    relations: [
      { name: 'parent', subjects: ['folder'] },
      { name: 'viewer', subjects: ['user', 'group#member'] },
    ],
    permissions: [{ name: 'read', expression: 'viewer + parent->read' }],
  });
  const texts = [
    'folder:top#viewer@group:eng#member',
    'group:eng#member@user:a',
    'folder:sub#parent@folder:top',
    'document:1#parent@folder:sub',
    'document:2#parent@folder:other',
    'document:3#viewer@user:a',
  ];
  const store = emptyStore({
    resource_types: [item('folder'), item('document')],
    tuples: texts.map((text) => tuple(text)),
  });
  for (const model of [fullModel(store), partialModel(store)]) {
    const objects = runListing(model, store, listObjects(model, check('user:a read document'), list));
    expect(objects).toMatchObject({ ids: ['1', '3'], complete: true });
    const subjects = runListing(model, store, listSubjects(model, check('user:? read document:1'), list));
    expect(subjects).toMatchObject({ ids: ['a'], complete: true });
  }
});

describe('public access', () => {
  const file = {
    id: 'rtype_file',
    name: 'file',
    relations: [
      { name: 'viewer', subjects: ['user', 'user:*', 'group#member'] },
      { name: 'banned', subjects: ['user', 'group#member'] },
    ],
    permissions: [{ name: 'read', expression: 'viewer - banned' }],
  };
  test.each([
    ['a wildcard', 'viewer', ['file:1#viewer@user:*'], [], true, true],
    ['a wildcard and a user', 'viewer', ['file:1#viewer@user:*', 'file:1#viewer@user:a'], ['a'], true, true],
    [
      'a wildcard in a group',
      'viewer',
      ['file:1#viewer@group:g#member', 'group:g#member@user:*'],
      [],
      true,
      true,
    ],
    ['a wildcard, with an exclusion of nobody', 'read', ['file:1#viewer@user:*'], [], true, true],
    [
      'a wildcard, with an exclusion',
      'read',
      ['file:1#viewer@user:*', 'file:1#banned@user:x', 'file:2#viewer@user:y'],
      ['y'],
      false,
      true,
    ],
    [
      'a wildcard, with the exclusion of a group',
      'read',
      ['file:1#viewer@user:*', 'file:1#banned@group:g#member', 'group:g#member@user:x'],
      [],
      false,
      true,
    ],
    ['a user', 'viewer', ['file:1#viewer@user:a'], ['a'], false, false],
    ['a wildcard of another kind', 'viewer', ['file:1#viewer@bot:*'], [], false, false],
  ])('%s', (_name, action, tuples, ids, all, others) => {
    const store = emptyStore({ resource_types: [file], tuples: tuples.map((text) => tuple(text)) });
    for (const model of [fullModel(store), partialModel(store)]) {
      const listing = listSubjects(model, check(`user:? ${action} file:1`), list);
      expect(runListing(model, store, listing)).toMatchObject({ ids, all, others, complete: true });
    }
  });
});

describe('all', () => {
  const store = emptyStore({
    roles: [role('reader')],
    permissions: [permission('document:read')],
    role_permissions: [{ role_id: 'reader', permission_id: 'perm_document:read' }],
    tuples: [tuple('document:a#owner@user:z'), tuple('document:b#owner@user:z')],
    assignments: [assignment('user:x', 'reader'), assignment('user:y', 'reader', 'document:a')],
  });
  const objects = (rows: Store, user: string) =>
    runListing(
      fullModel(rows),
      rows,
      listObjects(fullModel(rows), check(`user:${user} read document`), list),
    );

  test('an unscoped grant lists every known id and says that unknown ones are allowed too', () => {
    expect(objects(store, 'x')).toEqual({
      ids: ['a', 'b'],
      all: true,
      others: true,
      complete: true,
      position: '',
      revision: 1,
    });
  });

  test('a scoped grant lists its resource', () => {
    expect(objects(store, 'y')).toMatchObject({ ids: ['a'], all: false });
  });

  test('a deny policy that touches the type takes the claim back', () => {
    const deny = policy('no', { effect: 'deny', subjects: ['user:*'], resources: ['document:b'] });
    expect(objects({ ...store, policies: [deny] }, 'x')).toMatchObject({ ids: ['a'], all: false });
  });
});

test('a page ends when the model moves on, and the next one continues behind it: nothing twice, nothing lost', () => {
  const ids = Array.from({ length: 40 }, (_, n) => String(n).padStart(3, '0'));
  const store = emptyStore({ tuples: ids.map((id) => tuple(`file:${id}#viewer@user:a`)) });
  const model = fullModel(store);
  let ticks = 0;
  const options = { ...list, clock: () => (ticks += 3) };
  const seen: string[] = [];
  let after: string | undefined;
  for (let revision = 2, complete = false; !complete;) {
    const listing = listObjects(model, check('user:a viewer file'), { ...options, after });
    const page = runListing(model, store, listing, () => {
      const body = [tuple(`file:new${revision}#viewer@user:b`)];
      model.apply([{ revision: revision++, entity: 'relation', op: 'put', body }]);
    });
    expect(page.revision).toBeLessThanOrEqual(model.revision);
    seen.push(...page.ids);
    complete = page.complete;
    after = page.position;
  }
  expect(seen).toEqual(ids);
});

test('a walk of 20,000 nodes lets others have the event loop every 10 ms', () => {
  const tuples = Array.from({ length: 20_000 }, (_, n) => tuple(`file:${n}#viewer@user:a`));
  const store = emptyStore({ tuples });
  const model = fullModel(store);
  let now = 0;
  let longest = 0;
  let resumed = 0;
  const clock = () => (now += 0.5);
  const listing = listObjects(model, check('user:a viewer file'), {
    ...list,
    limit: 1_000,
    budget: 100_000,
    clock,
  });
  const page = runListing(model, store, listing, (step) => {
    expect(step.need).toBe('pause');
    longest = Math.max(longest, now - resumed);
    resumed = now;
  });
  expect(page.ids).toHaveLength(1_000);
  expect(longest).toBeLessThan(12);
});

test('ids are in the order of code points, which UTF-16 is not', () => {
  const ids = ['\u{1f600}', '\uffee', 'b', 'a', '', '\ud7ff', 'ab'];
  const byCodePoints = [...ids].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  expect(inOrder(ids, undefined)).toEqual(byCodePoints);
  expect([...ids].sort(compareCodePoints)).toEqual(byCodePoints);
  expect(inOrder(['a', 'b', 'b', 'c'], 'a')).toEqual(['b', 'c']);
});

test('what expired is not known any more', () => {
  const expired = new Date(testNow).toISOString();
  const store = emptyStore({
    policies: [policy('all')],
    tuples: [tuple('file:old#viewer@user:a', expired), tuple('file:new#viewer@user:a')],
  });
  const model = fullModel(store);
  expect(runListing(model, store, listObjects(model, check('user:a viewer file'), list)).ids).toEqual([
    'new',
  ]);
  expect(decide(model, check('user:a viewer file:old'), testOptions).answer?.allowed).toBe(true);
});
