import type { Store } from './testing.ts';
import { assignment, emptyStore, permission, policy, role, tuple } from './testing.ts';
import { checkResourceType } from './type-graph.ts';
import type { CheckInput, ResourceTypeRule } from './types.ts';

type Random = (n: number) => number;

const TYPES = ['a', 'b', 'c'];
const NAMES = ['r', 's', 't'];
const PERMISSIONS = ['p', 'q'];
const IDS = ['1', '2', '3'];
const USERS = ['user:1', 'user:2', 'bot:1'];
const PAST = '2026-11-20T12:00:00.000Z';
const FUTURE = '2026-11-20T12:00:00.001Z';

/** A small store in which everything refers to everything: cycles, exclusions, wildcards, undefined types, expiry. */
export function randomStore(random: Random): Store {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] ?? (list[0] as T);
  const some = <T>(n: number, make: () => T): T[] => Array.from({ length: random(n + 1) }, make);
  // Half of the stores are mostly usersets of usersets: many cycles, met from many sides.
  const dense = random(2) === 0;
  const resource_types: ResourceTypeRule[] = [];
  for (const name of TYPES) {
    const type = random(8) === 0 ? undefined : randomType(name, random, dense);
    if (type !== undefined && isAcceptable(type, resource_types)) resource_types.push(type);
  }
  const expiry = () => (random(8) === 0 ? pick([PAST, FUTURE]) : null);
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
      assignment(pick(USERS), pick(['r1', 'r2', 'r3', 'gone']), pick([null, 'a', 'a:1', 'b:2']), expiry()),
    ),
    policies: some(3, () => randomPolicy(random)),
  });
  for (const { id } of store.permissions)
    store.role_permissions.push({ role_id: `r${random(4) + 1}`, permission_id: id });
  return withoutTwins(store);
}

export function randomCheck(random: Random): CheckInput {
  const [subject_kind = '', subject_id = ''] = (USERS[random(USERS.length)] ?? '').split(':');
  return {
    subject_kind,
    subject_id,
    action: [...NAMES, ...PERMISSIONS][random(5)] ?? '',
    resource_type: TYPES[random(TYPES.length)] ?? '',
    resource_id: random(8) === 0 ? '' : (IDS[random(IDS.length)] ?? ''),
    context: random(2) === 0 ? {} : { mode: 'x' },
  };
}

function randomType(name: string, random: Random, dense: boolean): ResourceTypeRule {
  const forms = [
    'user',
    'user:*',
    'bot',
    ...TYPES,
    ...TYPES.flatMap((type) => NAMES.map((each) => `${type}#${each}`)),
    'd#m',
  ];
  return {
    id: `rtype_${name}`,
    name,
    relations: NAMES.map((relation) => ({
      name: relation,
      subjects: forms.filter(() => dense || random(3) !== 0),
      expression: random(dense ? 8 : 2) !== 0 ? 'this' : randomExpression(random, true, 2),
    })),
    // What one name has found is used by the next only where all have to hold.
    permissions: PERMISSIONS.map((each) => ({
      name: each,
      expression: dense
        ? (['r & s & t', 't & r', 's & r & r->t'][random(3)] ?? '')
        : randomExpression(random, false, 2),
    })),
  };
}

function randomExpression(random: Random, inRelation: boolean, nesting: number): string {
  const name = () => [...NAMES, ...PERMISSIONS][random(5)] ?? '';
  if (nesting === 0 || random(3) === 0) {
    const kind = random(3);
    if (kind === 0 && inRelation) return 'this';
    return kind === 1 ? `${NAMES[random(3)] ?? ''}->${name()}` : name();
  }
  const operator = ['+', '+', '&', '-'][random(4)] ?? '+';
  const terms = Array.from({ length: 2 + random(2) }, () =>
    randomExpression(random, inRelation, nesting - 1),
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
  const id = () => IDS[random(dense ? 2 : 3)] ?? '';
  const plain = [...USERS, 'user:*', `d:${id()}#m`][random(5)] ?? '';
  if (random(6) === 0) return `d:${id()}#m@${plain}`;
  const type = () => TYPES[random(dense ? 2 : 3)] ?? '';
  const name = () => NAMES[random(3)] ?? '';
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

/** Keys are unique in the database. */
function withoutTwins(store: Store): Store {
  const key = (row: object) =>
    JSON.stringify(Object.entries(row).filter(([name]) => name !== 'id' && name !== 'expires_at'));
  const once = <T extends object>(rows: T[]) => [...new Map(rows.map((row) => [key(row), row])).values()];
  return { ...store, tuples: once(store.tuples), assignments: once(store.assignments) };
}
