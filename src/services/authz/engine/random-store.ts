import type { Store } from './testing.ts';
import { assignment, emptyStore, permission, policy, role, tuple } from './testing.ts';
import { checkResourceType } from './type-graph.ts';
import type { CheckInput, ResourceTypeRule } from './types.ts';

type Random = (n: number) => number;

const types = ['a', 'b', 'c'];
const names = ['r', 's', 't'];
const permissions = ['p', 'q'];
const ids = ['1', '2', '3'];
const users = ['user:1', 'user:2', 'bot:1'];
const past = '2026-11-20T12:00:00.000Z';
const future = '2026-11-20T12:00:00.001Z';

/** Returns a small random store in which everything refers to everything: cycles, exclusions, wildcards, undefined types, expiry. */
export function randomStore(random: Random): Store {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] ?? (list[0] as T);
  const some = <T>(n: number, make: () => T): T[] => Array.from({ length: random(n + 1) }, make);
  // Half of the stores consist mostly of usersets of usersets: many cycles, entered from many sides.
  const dense = random(2) === 0;
  const resource_types: ResourceTypeRule[] = [];
  for (const name of types) {
    const type = random(8) === 0 ? undefined : randomType(name, random, dense);
    if (type !== undefined && isAcceptable(type, resource_types)) resource_types.push(type);
  }
  const expiry = () => (random(8) === 0 ? pick([past, future]) : null);
  const store = emptyStore({
    resource_types,
    roles: ['r1', 'r2', 'r3', 'r4'].map((id, index) =>
      role(id, random(2) === 0 && index > 0 ? `r${random(index) + 1}` : null, random(12) === 0),
    ),
    permissions: [
      ...new Set(some(3, () => `${pick(['a', 'b', '*', 'a*'])}:${pick(['r', 'p', 'q', '*'])}`)),
    ].map(permission),
    tuples: some(dense ? 32 : 14, () => tuple(randomTuple(random, dense), expiry())),
    assignments: some(4, () =>
      assignment(pick(users), pick(['r1', 'r2', 'r3', 'gone']), pick([null, 'a', 'a:1', 'b:2']), expiry()),
    ),
    policies: some(3, () => randomPolicy(random)),
  });
  for (const { id } of store.permissions)
    store.role_permissions.push({ role_id: `r${random(4) + 1}`, permission_id: id });
  return withoutTwins(store);
}

export function randomCheck(random: Random): CheckInput {
  const [subject_kind = '', subject_id = ''] = (users[random(users.length)] ?? '').split(':');
  return {
    subject_kind,
    subject_id,
    action: [...names, ...permissions][random(5)] ?? '',
    resource_type: types[random(types.length)] ?? '',
    resource_id: random(8) === 0 ? '' : (ids[random(ids.length)] ?? ''),
    context: random(2) === 0 ? {} : { mode: 'x' },
  };
}

function randomType(name: string, random: Random, dense: boolean): ResourceTypeRule {
  const forms = [
    'user',
    'user:*',
    'bot',
    ...types,
    ...types.flatMap((type) => names.map((each) => `${type}#${each}`)),
    'd#m',
  ];
  // Arrows cannot follow wildcards, so some relations admit none, and arrows go through those relations.
  const through = names.filter(() => random(2) === 0);
  const expressionOf = (inRelation: boolean) => randomExpression(random, inRelation, 2, through);
  return {
    id: `rtype_${name}`,
    name,
    relations: names.map((relation) => ({
      name: relation,
      subjects: forms
        .filter((form) => !(through.includes(relation) && form.endsWith(':*')))
        .filter(() => dense || random(3) !== 0),
      expression: random(dense ? 8 : 2) !== 0 ? 'this' : expressionOf(true),
    })),
    // One name reuses the results of another only where all terms have to hold.
    permissions: permissions.map((each) => ({
      name: each,
      expression: dense ? denseExpression(random, through) : expressionOf(false),
    })),
  };
}

function denseExpression(random: Random, [through]: readonly string[]): string {
  const arrow = through === undefined ? 't' : `${through}->t`;
  return ['r & s & t', 't & r', `s & r & ${arrow}`, `r - ${arrow}`][random(4)] ?? '';
}

function randomExpression(
  random: Random,
  inRelation: boolean,
  nesting: number,
  through: readonly string[],
): string {
  const name = () => [...names, ...permissions][random(5)] ?? '';
  if (nesting === 0 || random(3) === 0) {
    const kind = random(3);
    if (kind === 0 && inRelation) return 'this';
    const left = through[random(Math.max(through.length, 1))];
    return kind === 1 && left !== undefined ? `${left}->${name()}` : name();
  }
  const operator = ['+', '+', '&', '-'][random(4)] ?? '+';
  const terms = Array.from({ length: 2 + random(2) }, () =>
    randomExpression(random, inRelation, nesting - 1, through),
  );
  return `(${terms.join(` ${operator} `)})`;
}

function isAcceptable(type: ResourceTypeRule, others: readonly ResourceTypeRule[]): boolean {
  try {
    checkResourceType(type, others);
    return true;
  } catch {
    return false;
  }
}

/** Tuples of the undefined type `d` point only to subjects and to `d`, so that no exclusion can run through it. */
function randomTuple(random: Random, dense: boolean): string {
  const id = () => ids[random(dense ? 2 : 3)] ?? '';
  const plain = [...users, 'user:*', `d:${id()}#m`][random(5)] ?? '';
  if (random(6) === 0) return `d:${id()}#m@${plain}`;
  const type = () => types[random(dense ? 2 : 3)] ?? '';
  const name = () => names[random(3)] ?? '';
  if (dense && random(5) !== 0) return `${type()}:${id()}#${name()}@${type()}:${id()}#${name()}`;
  const subject = [plain, plain, `${type()}:${id()}`, `${type()}:${id()}#${name()}`][random(4)] ?? plain;
  return `${type()}:${id()}#${name()}@${subject}`;
}

function randomPolicy(random: Random) {
  const subjects = ['*', 'user:*', 'user:1', '1', 'bot:*', 'role:r1', 'role:r2', 'd:1#m', 'd:2#m'];
  return policy(`p${random(1_000_000)}`, {
    effect: random(3) === 0 ? 'deny' : 'allow',
    priority: random(3),
    is_active: random(6) !== 0,
    subjects: [subjects[random(subjects.length)] ?? '*'],
    actions: [['*', 'p', 'r', 'q*'][random(4)] ?? '*'],
    resources: [['a', 'a:1', 'b:*', '*:2', 'c'][random(5)] ?? 'a'],
    conditions: random(3) === 0 ? [{ field: 'mode', operator: 'eq', value: 'x' }] : [],
  });
}

/** Keeps one row per key, since keys are unique in the database. */
function withoutTwins(store: Store): Store {
  const key = (row: object) =>
    JSON.stringify(Object.entries(row).filter(([name]) => name !== 'id' && name !== 'expires_at'));
  const once = <T extends object>(rows: T[]) => [...new Map(rows.map((row) => [key(row), row])).values()];
  return { ...store, tuples: once(store.tuples), assignments: once(store.assignments) };
}
