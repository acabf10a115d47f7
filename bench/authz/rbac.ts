/** Roles in process, against casbin with the same roles and users. */
import { newEnforcer, newModelFromString } from 'casbin';
import { withPlace } from '../place.ts';
import { atLeast, atMost, atMostTimes, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { latencies, mean, paired, quantile } from '../statistics.ts';
import { roleCheck, seedRoles, type Roles } from './data.ts';
import { asked, callOf, withService } from './service.ts';

const rolesOf = (roles: number): Roles => ({
  tenant: `roles-${roles}`,
  roles,
  users: sized(10_000, 1_000),
  permissions: 1,
  share: 10,
});

export function rbac(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    const sizes = [100, 1_000, 10_000].map((full) => rolesOf(sized(full, 10)));
    yield* await place.use(async (db) => {
      for (const roles of sizes) await seedRoles(db, roles);
      return withService(db, ({ Decisions }) => measure(sizes, Decisions.check));
    });
  });
}

type CheckHandler = Parameters<Parameters<typeof withService>[1]>[0]['Decisions']['check'];

async function measure([few, some, many]: Roles[], check: CheckHandler): Promise<Row[]> {
  const calls = sized(100_000, 5_000);
  const ask = (roles: Roles) => {
    const call = callOf(roles.tenant);
    const requests = checksOf(roles).map(asked);
    return (turn: number) => check(requests[turn % requests.length]!, call);
  };
  const ours = ask(some!);
  const times = await latencies(calls, ours);
  const enforce = await casbin(some!);
  const against = await paired(
    async () => 1 / (await mean(calls, ours)),
    async () => 1 / (await mean(sized(300, 20), enforce)),
    3,
  );
  const [ofMany, ofFew] = [ask(many!), ask(few!)];
  const growth = await paired(
    () => mean(calls, ofMany),
    () => mean(calls, ofFew),
  );
  const size = `${round(some!.roles)} roles, ${round(some!.users)} users`;
  return [
    atLeast(against.ratio, 1_000, {
      path: `check in process, ${size}`,
      baseline: 'casbin enforce',
      measured: `${round(1_000 / against.a)} µs against ${round(1_000 / against.b)} µs`,
    }),
    atMost(quantile(times, 0.5) * 1_000, 3, { path: `check in process, ${size}, p50`, unit: 'µs' }),
    atMostTimes(growth.ratio, 1.5, {
      path: `check in process, ${round(many!.roles)} roles`,
      baseline: `${round(few!.roles)} roles`,
      measured: `${round(growth.a * 1_000)} µs against ${round(growth.b * 1_000)} µs`,
    }),
  ];
}

/** Returns checks, half of them allowed, with users in a scattered order. */
const checksOf = (roles: Roles) =>
  Array.from({ length: 2_000 }, (_, turn) =>
    roleCheck(roles, (turn * 7919) % roles.users, turn, turn % 2 === 0),
  );

const model = `
[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act
[role_definition]
g = _, _
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = g(r.sub, p.sub) && r.obj == p.obj && r.act == p.act
`;

/** Creates an enforcer with the same data. It throws on a wrong decision. */
async function casbin(roles: Roles): Promise<(turn: number) => Promise<boolean>> {
  const enforcer = await newEnforcer(newModelFromString(model));
  const { roles: count, users, share } = roles;
  await enforcer.addPolicies(
    Array.from({ length: count }, (_, n) => [`group${n}`, `data${Math.floor(n / share)}`, 'a0']),
  );
  await enforcer.addGroupingPolicies(Array.from({ length: users }, (_, n) => [`u${n}`, `group${n % count}`]));
  const checks = checksOf(roles);
  return async (turn) => {
    const { subject_id, resource_type, action } = checks[turn % checks.length]!;
    const allowed = await enforcer.enforce(subject_id, resource_type, action);
    if (allowed !== (turn % 2 === 0)) throw new Error(`casbin answers ${allowed} for ${subject_id}`);
    return allowed;
  };
}
