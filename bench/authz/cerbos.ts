/** Checks over HTTP against Cerbos with the same rules and the same load. Cerbos gets the subject's roles from its caller. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load, type LoadResult, type Request } from '../load.ts';
import { withPlace } from '../place.ts';
import { type Running, start, withServers } from '../process.ts';
import { atLeast, atMostTimes, notMeasured, round, type Row } from '../row.ts';
import { median, paired } from '../statistics.ts';
import { seedRoles, type Roles } from './data.ts';
import { checkRequests, questions, rolesOverHttp } from './http.ts';

export async function* cerbos(): AsyncIterable<Row> {
  yield* against(rolesOverHttp(1, 10));
  yield* against(rolesOverHttp(10, 1));
}

async function* against(roles: Roles): AsyncIterable<Row> {
  const path = `check over HTTP, ${round(roles.roles * roles.permissions)} permissions in ${round(roles.roles)} roles`;
  const folder = writePolicies(roles);
  try {
    const other = await start('cerbos', [folder]).catch((error: Error) => error);
    if (other instanceof Error) {
      yield notMeasured(path, '≥ 4 ×', `Cerbos does not start here: ${other.message}`);
      return;
    }
    yield* withServers([Promise.resolve(other)], (theirs) =>
      withPlace(async function* (place) {
        await place.use((db) => seedRoles(db, roles));
        yield* withServers([place.serve()], (ours) => compare(path, roles, ours, theirs));
      }),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function* compare(path: string, roles: Roles, plinth: Running, other: Running): AsyncIterable<Row> {
  const [ours, theirs]: [LoadResult[], LoadResult[]] = [[], []];
  const run = (port: number, requests: Request[], contains: string, results: LoadResult[]) => async () => {
    const result = await load({ port, requests, contains });
    results.push(result);
    return result.rate;
  };
  const requests = checkRequests(roles);
  const { ratio, a, b } = await paired(
    run(plinth.port, requests, '"revision":', ours),
    run(other.port, cerbosRequests(roles, requests.length), '"EFFECT_', theirs),
    3,
  );
  const measured = `${round(a)}/s against ${round(b)}/s`;
  yield atLeast(ratio, 4, { path, baseline: 'Cerbos, the same rules and load', measured });
  const p99 = (results: LoadResult[]) => median(results.slice(1).map((result) => result.p99));
  yield atMostTimes(p99(ours) / p99(theirs), 1 / 3, {
    path: `${path}, p99`,
    baseline: 'Cerbos, the same rules and load',
    measured: `${round(p99(ours))} ms against ${round(p99(theirs))} ms`,
  });
}

/** Writes one resource policy per type, with a rule for each role that is allowed something. Returns the folder. */
function writePolicies({ roles, permissions, share }: Roles): string {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-bench-cerbos-'));
  mkdirSync(join(folder, 'policies'));
  for (let type = 0; type < Math.ceil(roles / share); type++) {
    const rules = Array.from({ length: share * permissions }, (_, n) => ({
      actions: [`a${n % permissions}`],
      effect: 'EFFECT_ALLOW',
      roles: [`group${type * share + Math.floor(n / permissions)}`],
    }));
    const policy = {
      apiVersion: 'api.cerbos.dev/v1',
      resourcePolicy: { resource: `data${type}`, version: 'default', rules },
    };
    writeFileSync(join(folder, 'policies', `data${type}.json`), JSON.stringify(policy));
  }
  return folder;
}

function cerbosRequests(roles: Roles, count: number): Request[] {
  return questions(roles, count).map(({ subject_id, action, resource_type, resource_id }) => ({
    path: '/api/check/resources',
    body: {
      principal: { id: subject_id, roles: [`group${Number(subject_id.slice(1)) % roles.roles}`] },
      resources: [{ actions: [action], resource: { kind: resource_type, id: resource_id } }],
    },
  }));
}
