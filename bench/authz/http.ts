/** Checks over HTTP: against the same server with a constant answer, and a batch against single checks. */
import { load, type Request } from '../load.ts';
import { headers, token, withPlace } from '../place.ts';
import { start, withServers } from '../process.ts';
import { atLeast, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { paired } from '../statistics.ts';
import { roleCheck, seedRoles, type Roles } from './data.ts';

export const rolesOverHttp = (permissions: number, share: number): Roles => ({
  tenant: 'default',
  roles: sized(1_000, 50),
  users: sized(10_000, 500),
  permissions,
  share,
});

/** Returns questions as the SDK sends them, without optional members. Half of them are allowed. */
export function questions(roles: Roles, count: number) {
  return Array.from({ length: count }, (_, turn) => {
    const user = (turn * 7919) % roles.users;
    const { subject_kind, subject_id, action, resource_type } = roleCheck(roles, user, turn, turn % 2 === 0);
    return { subject_kind, subject_id, action, resource_type, resource_id: `r${turn}` };
  });
}

export const checkRequests = (roles: Roles): Request[] =>
  questions(roles, sized(20_000, 1_000)).map((body) => ({ path: '/authz/v1/authz/check', headers, body }));

export function overHttp(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    const roles = rolesOverHttp(1, 10);
    await place.use((db) => seedRoles(db, roles));
    yield* withServers(
      [place.serve(), start('runtime', ['authz', token])],
      async function* (plinth, constant) {
        const requests = checkRequests(roles);
        const rate = (port: number) => async () =>
          (await load({ port, requests, contains: '"revision":' })).rate;
        const { ratio, a, b } = await paired(rate(plinth.port), rate(constant.port));
        yield atLeast(ratio, 0.8, {
          path: 'POST check over HTTP, warm, 32 connections',
          baseline: 'the same server and validator, constant answer',
          measured: `${round(a)}/s against ${round(b)}/s`,
        });
        yield await batch(plinth.port, roles);
      },
    );
  });
}

/** Measures one caller that asks a hundred questions, one after the other or all at once. */
async function batch(port: number, roles: Roles): Promise<Row> {
  const checks = questions(roles, 100);
  const requests = { path: '/authz/v1/authz/batch-check', headers, body: { checks } };
  const rate = async (requests: Request | Request[]) =>
    (await load({ port, requests, connections: 1, contains: '"allowed":true' })).rate;
  const singles = checkRequests(roles).filter((_, turn) => turn % 2 === 0);
  const { ratio, a, b } = await paired(
    async () => (await rate(requests)) * 100,
    () => rate(singles),
    3,
  );
  return atLeast(ratio, 30, {
    path: 'batch of 100 checks over HTTP',
    baseline: '100 single HTTP checks',
    measured: `${round(a)} checks/s against ${round(b)} checks/s, one connection`,
  });
}
