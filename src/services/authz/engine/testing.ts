import { compareCodePoints } from './code-points.ts';
import { decide, decideBatch } from './decide.ts';
import { Model } from './model.ts';
import type {
  AssignmentFact,
  CheckInput,
  DecideOptions,
  Decision,
  FetchedSlice,
  KnownIds,
  Listing,
  ListingPage,
  ListingStep,
  Outcome,
  PermissionRule,
  PolicyRule,
  ResourceTypeRule,
  RolePermission,
  RoleRule,
  SliceKey,
  TupleFact,
  TupleKey,
} from './types.ts';

/** Everything a tenant has, as plain rows. The tests use it in place of the database. */
export interface Store {
  roles: RoleRule[];
  permissions: PermissionRule[];
  role_permissions: RolePermission[];
  policies: PolicyRule[];
  resource_types: ResourceTypeRule[];
  tuples: TupleFact[];
  assignments: AssignmentFact[];
}

export const many = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

export const testNow = Date.parse('2026-11-20T12:00:00.000Z');
export const testOptions: DecideOptions = { now: testNow, limits: { depth: 50, visits: 50_000 } };

export const emptyStore = (parts: Partial<Store> = {}): Store => ({
  roles: [],
  permissions: [],
  role_permissions: [],
  policies: [],
  resource_types: [],
  tuples: [],
  assignments: [],
  ...parts,
});

let counter = 0;

/** Parses `document:readme#viewer@group:eng#member` into a tuple. */
export function tuple(text: string, expires_at: string | null = null): TupleFact {
  const match = /^([^:]+):(.+)#([^#@]+)@([^:]+):([^#]+)(?:#(.+))?$/.exec(text);
  const [
    ,
    object_type = '',
    object_id = '',
    relation = '',
    subject_type = '',
    subject_id = '',
    subject_relation = '',
  ] = match ?? [];
  const id = `rel_${String(++counter).padStart(26, '0')}`;
  return { id, object_type, object_id, relation, subject_type, subject_id, subject_relation, expires_at };
}

export function role(id: string, parent_id: string | null = null, is_default = false): RoleRule {
  return { id, slug: id, parent_id, is_default };
}

export function permission(text: string): PermissionRule {
  const [resource = '', action = ''] = text.split(':');
  return { id: `perm_${text}`, resource, action };
}

export function assignment(
  subject: string,
  role_id: string,
  scope: string | null = null,
  expires_at: string | null = null,
): AssignmentFact {
  const [subject_kind = '', subject_id = ''] = split(subject);
  const [resource_type = null, resource_id = null] = scope === null ? [] : split(scope);
  const id = `asgn_${String(++counter).padStart(26, '0')}`;
  return { id, role_id, subject_kind, subject_id, resource_type, resource_id, expires_at };
}

export function policy(name: string, parts: Partial<PolicyRule> = {}): PolicyRule {
  return {
    id: `pol_${name}`,
    name,
    effect: 'allow',
    priority: 0,
    is_active: true,
    subjects: ['*'],
    actions: ['*'],
    resources: ['*'],
    conditions: [],
    ...parts,
  };
}

/** Parses `user:a read document:1` into a check. Without an id it is a type-level question. */
export function check(text: string, parts: Partial<CheckInput> = {}): CheckInput {
  const [subject = '', action = '', resource = ''] = text.split(' ');
  const [subject_kind = '', subject_id = ''] = split(subject);
  const [resource_type = '', resource_id] = split(resource);
  return { subject_kind, subject_id, action, resource_type, resource_id, ...parts };
}

const split = (text: string) => {
  const colon = text.indexOf(':');
  return colon < 0 ? [text] : [text.slice(0, colon), text.slice(colon + 1)];
};

export function fullModel(store: Store, revision = 1): Model {
  const model = new Model('full');
  model.addRules(store);
  model.addTuples(store.tuples);
  model.addAssignments(store.assignments);
  model.loaded(revision);
  return model;
}

export function partialModel(store: Store, revision = 1): Model {
  const model = new Model('partial');
  model.addRules(store);
  model.loaded(revision);
  return model;
}

/** Asks until there is an answer and fetches missing slices. `fetches` counts the rounds and the rows read. */
export function resolve<Answer>(
  model: Model,
  store: Store,
  ask: () => Outcome<Answer>,
  fetches = { rounds: 0, rows: 0 },
): Answer {
  for (;;) {
    const outcome = ask();
    if (outcome.missing === undefined) return outcome.answer;
    if (++fetches.rounds > 1_000) throw new Error('the rounds do not end');
    const slices = outcome.missing.map((key) => readSlice(store, key));
    for (const { tuples = [], assignments = [] } of slices)
      fetches.rows += tuples.length + assignments.length;
    model.addSlices(model.beginFetch(), slices, model.revision);
  }
}

export function decideWith(
  model: Model,
  store: Store,
  input: CheckInput,
  options = testOptions,
  fetches = { rounds: 0, rows: 0 },
): Decision {
  return resolve(model, store, () => decide(model, input, options), fetches);
}

export function decideAllWith(
  model: Model,
  store: Store,
  inputs: readonly CheckInput[],
  options = testOptions,
): Decision[] {
  return resolve(model, store, () => decideBatch(model, inputs, options));
}

/** Returns what the database answers for a slice key. */
export function readSlice(store: Store, key: SliceKey): FetchedSlice {
  switch (key.slice) {
    case 'A':
      return {
        key,
        assignments: store.assignments.filter(
          (row) => row.subject_kind === key.subject_kind && row.subject_id === key.subject_id,
        ),
      };
    case 'S':
      return {
        key,
        tuples: store.tuples.filter(
          (row) =>
            row.subject_type === key.subject_type &&
            row.subject_id === key.subject_id &&
            row.subject_relation === key.subject_relation,
        ),
      };
    default: {
      const rows = store.tuples.filter(
        (row) =>
          row.object_type === key.object_type &&
          row.relation === key.relation &&
          row.object_id === key.object_id,
      );
      if (key.slice === 'U') return { key, tuples: rows.filter((row) => !isPlain(row)) };
      const plain = rows.filter(isPlain);
      if (key.slice !== 'M') return { key, tuples: plain };
      const { subject_type, subject_id } = key;
      return {
        key,
        tuples: plain.filter((row) => row.subject_type === subject_type && row.subject_id === subject_id),
      };
    }
  }
}

const isPlain = (row: TupleKey) => row.subject_relation === '' && row.subject_id !== '*';

/** Returns a generator of numbers below `n`, which depends only on the seed. */
export function randomFrom(seed: number): (n: number) => number {
  let state = seed >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
}

/** Runs a listing to the end of its page, as the owner of the model would. */
export function runListing(
  model: Model,
  store: Store,
  listing: Listing,
  onStep?: (step: ListingStep) => void,
): ListingPage {
  let answer: KnownIds | undefined;
  for (;;) {
    const step = listing.next(answer);
    answer = undefined;
    if (step.done) return step.value;
    onStep?.(step.value);
    if (step.value.need === 'missing') {
      const slices = step.value.slices.map((key) => readSlice(store, key));
      model.addSlices(model.beginFetch(), slices, model.revision);
    } else if (step.value.need === 'known') {
      answer = readKnown(store, step.value);
    }
  }
}

/** Returns every id of a type in unexpired facts, in code-point order. */
export function knownIds(store: Store, type: string): string[] {
  const live = (fact: { expires_at: string | null }) =>
    fact.expires_at === null || Date.parse(fact.expires_at) > testNow;
  const ids = new Set<string>();
  const note = (kind: string | null, id: string | null) => {
    if (kind === type && id !== null && id !== '*') ids.add(id);
  };
  for (const row of store.tuples.filter(live)) {
    note(row.object_type, row.object_id);
    note(row.subject_type, row.subject_id);
  }
  for (const row of store.assignments.filter(live)) {
    note(row.subject_kind, row.subject_id);
    note(row.resource_type, row.resource_id);
  }
  return [...ids].sort(compareCodePoints);
}

function readKnown(store: Store, { type, after, count }: ListingStep & { need: 'known' }): KnownIds {
  const rest = knownIds(store, type).filter((id) => after === undefined || compareCodePoints(id, after) > 0);
  return { ids: rest.slice(0, count), done: rest.length <= count };
}
