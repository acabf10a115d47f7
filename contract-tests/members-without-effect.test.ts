/**
 * Members of a request that have no effect, at every operation whose request may carry some. A member that names a tenant or an app where
 * the operation takes none is refused unless it is the caller's own: what was meant for one tenant never happens in another. What only the
 * server sets is refused in a request that makes something, and in a change it has to be as it was read.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Leeway, Operation } from '../generated/operations.ts';
import { isObject } from './coherence.ts';
import { nameOf } from './contract.ts';
import { furnish, pathKinds, send, type Furnished } from './furnish.ts';
import { behaviour, type Credential } from './harness.ts';
import { requestWith } from './ids.ts';
import { exampleBody, type WireRequest } from './requests.ts';
import { servedBy } from './targets.ts';

const operations = servedBy('server').filter(({ body }) => body?.leeway);

/** A member that only the server sets. `path` leads to the value that carries it: `events`, `0`. */
interface Place {
  readonly path: readonly string[];
  readonly name: string;
  /** Whether the value is new, so that `null` means absence. */
  readonly fresh: boolean;
  /** Whether it becomes something new, so that the member is refused. */
  readonly refused: boolean;
}

function placesIn(leeway: Leeway | undefined, path: readonly string[] = []): Place[] {
  if (!leeway) return [];
  const { ignored = [], nullIsAbsent: fresh = false, refused = false, members = {}, items, values } = leeway;
  return [
    ...ignored.map((name) => ({ path, name, fresh, refused })),
    ...Object.entries(members).flatMap(([name, inner]) => placesIn(inner, [...path, name])),
    ...placesIn(items, [...path, '0']),
    ...placesIn(values, [...path, 'key']),
  ];
}

const places = (operation: Operation): Place[] => placesIn(operation.body?.leeway ?? undefined);

/** The place as an error names it: `events[0].tenant_id`. */
const written = ({ path, name }: At): string =>
  [...path, name].map((one, index) => (one === '0' ? '[0]' : `${index === 0 ? '' : '.'}${one}`)).join('');

type At = Pick<Place, 'path' | 'name'>;

/** Returns the body with a value in a place. What the path leads through is made where the body lacks it. */
function placed(body: unknown, { path, name }: At, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return { ...(isObject(body) ? body : {}), [name]: value };
  if (step === '0') {
    const [first, ...others] = Array.isArray(body) ? (body as unknown[]) : [];
    return [placed(first, { path: rest, name }, value), ...others];
  }
  const members = isObject(body) ? body : {};
  return { ...members, [step]: placed(members[step], { path: rest, name }, value) };
}

const namesTenant = new Set(['tenant_id', 'scope_org_id']);
const namesApp = new Set(['app_id', 'scope_app_id']);
const isScope = ({ name }: At) => namesTenant.has(name) || namesApp.has(name);

const withScope = operations.filter((operation) => places(operation).some(isScope));
const named = (list: readonly Operation[]) =>
  list.map((operation) => [nameOf(operation), operation] as const);
const isChange = ({ verb }: Operation) => verb !== 'POST';

/** What a change may carry with any value: times and counts that move meanwhile, and what no `GET` at the same path shows. */
const withoutEffect = [
  ...['updated_at', 'revision', 'member_count', 'key_count', 'times_redeemed', 'live_secrets', 'usage'],
  ...['last_fired_at', 'last_signin_at', 'last_used_at', 'next_run_at', 'oldest_due_at'],
  ...['counts', 'health', 'disabled_reason', 'used_bytes', 'used_objects'],
  ...['id', 'created_at', 'updated_at'].map((name) => `auth.Branding_update ${name}`),
  ...['id', 'created_at', 'updated_at', 'version'].map((name) => `auth.Forms_update ${name}`),
  ...['id', 'created_at', 'updated_at', 'org_id', 'user'].map((name) => `auth.Members_update ${name}`),
];

/** Storage has one message for everything that is wrong with a bucket's name. */
const ofBuckets = ({ service }: Operation) => (service === 'storage' ? ['400 invalid bucket name'] : []);

behaviour('A member without effect', (api) => {
  const tenant = api.tenant();
  let own: Furnished;
  let key: Credential;
  let operator: Credential;
  beforeAll(async () => {
    own = await furnish(tenant);
    key = await tenant.withKey(['*']);
    operator = own.user ? tenant.asOperatorOf(own.user.appId) : api.operator();
  });

  /** Returns the status and the message of the answer to a request with this body. */
  async function said(credential: Credential, operation: Operation, body: unknown) {
    const response = await send(credential, withBody(requestWith(operation, own.pool), body));
    return `${response.status} ${messageOf(await response.text())}`;
  }

  /** The example, in which nobody is named. */
  const exampleOf = (operation: Operation) =>
    unscoped(bodyOf(requestWith(operation, own.pool)) ?? exampleBody(operation));

  describe('that names a tenant or an app', () => {
    const inTenant = withScope.filter(({ access }) => access !== 'operator');
    it.each(named(inTenant))('is the caller’s own or refused: %s', async (_, operation) => {
      for (const place of places(operation).filter(isScope)) {
        // A user's app is a resource, and compared with what is stored. Storage says no more than its codes.
        const refusal = operation.ownApps
          ? /^400 app_id: is not taken here/
          : new RegExp(
              `^403 (forbidden|${written(place).replaceAll(/[.[\]]/g, '\\$&')}: not the caller's own)$`,
            );
        for (const value of ['t9', 9, { id: 't9' }, ['t9'], ...(place.fresh ? [] : [null])]) {
          const caller = operation.access === 'user' ? own.user! : key;
          expect(await said(caller, operation, placed(exampleOf(operation), place, value))).toMatch(refusal);
        }
      }
    });

    it.each(named(withScope.filter((operation) => !isChange(operation))))(
      'and is not the operator’s own is refused, with the header to use: %s',
      async (_, operation) => {
        for (const place of places(operation).filter(isScope)) {
          const [what, header] = namesApp.has(place.name) ? ['app', 'X-App-ID'] : ['tenant', 'X-Tenant-ID'];
          for (const value of ['t9', 9, { id: 't9' }])
            expect(await said(operator, operation, placed(exampleOf(operation), place, value))).toBe(
              `400 ${written(place)}: is not taken here; name the ${what} with ${header}`,
            );
        }
      },
    );
  });

  const callerOf = ({ access }: Operation): Credential =>
    access === 'user' ? own.user! : access === 'operator' ? operator : own.root;

  describe('that only the server sets', () => {
    const refusedBy = (operation: Operation) =>
      places(operation).filter((place) => place.refused && !isScope(place));
    const makers = operations.filter((operation) => refusedBy(operation).length > 0);
    it.each(named(makers))('is refused in what is made: %s', async (_, operation) => {
      const caller = callerOf(operation);
      const example = exampleOf(operation);
      for (const place of refusedBy(operation))
        expect([
          `400 ${written(place)}: is set by the server, leave it out`,
          ...ofBuckets(operation),
        ]).toContain(await said(caller, operation, placed(example, place, 'any')));
    });

    it('is accepted elsewhere: in what is deleted, it was read', () => {
      const accepting = operations.flatMap((operation) =>
        operation.verb === 'POST' && places(operation).some(({ refused }) => !refused)
          ? nameOf(operation)
          : [],
      );
      expect(accepting).toEqual(['authz.Relations_batch', 'authz.Relations_delete']);
    });
  });

  describe('of what was read', () => {
    const readable = operations.filter(({ body }) => body?.leeway?.fixed);
    it.each(named(readable))('can be written back, but not as another’s: %s', async (_, operation) => {
      expect(pathKinds(operation).filter((kind) => !own.pool.has(kind))).toEqual([]);
      const caller = callerOf(operation);
      const request = requestWith(operation, own.pool);
      const read = await send(caller, { path: request.path, init: { method: 'GET', headers: {} } });
      expect(read.status, await read.clone().text()).toBe(200);
      const resource: unknown = await read.json();
      expect(await said(caller, operation, resource)).toMatch(/^200 /);
      const fixed = operation.body!.leeway!.fixed!.map((name) => ({ path: [], name }));
      for (const place of fixed.filter((one) => !isScope(one)))
        expect([
          `400 ${place.name}: is set by the server; leave it out or send the value that it has`,
          ...ofBuckets(operation),
        ]).toContain(await said(caller, operation, placed(resource, place, 'another')));
      for (const place of fixed.filter(isScope)) {
        // The operator reaches things of other tenants by their ids, where the service says so.
        const asked = operation.access === 'user' ? caller : operator;
        const answer = await said(asked, operation, placed(resource, place, 't9'));
        expect(answer).toMatch(/^400 .*: is not taken here; name the|^404 /);
      }
    });

    it('has no effect where it changes by itself, or cannot be read at the same path', () => {
      const dropped = operations.filter(isChange).flatMap((operation) => {
        const { ignored = [], fixed } = operation.body!.leeway!;
        const without = ignored.filter((name) => !fixed?.includes(name));
        return fixed ? without : without.map((name) => `${nameOf(operation)} ${name}`);
      });
      expect([...new Set(dropped)].sort()).toEqual([...withoutEffect].sort());
    });
  });
});

/** Leaves out members that name a tenant or an app. */
function unscoped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unscoped);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => !namesTenant.has(name) && !namesApp.has(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, unscoped(member)]));
}

const withBody = ({ path, init }: WireRequest, body: unknown): WireRequest => ({
  path,
  init: {
    ...init,
    headers: { ...init.headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  },
});

const bodyOf = ({ init: { body } }: WireRequest): unknown =>
  body === undefined ? undefined : JSON.parse(body);

/** Returns the message in an error of any service, without what some services say before it. */
function messageOf(text: string): string {
  const { error, message } = JSON.parse(text || '{}') as Readonly<Record<string, unknown>>;
  const said = message ?? (isObject(error) ? error['message'] : error);
  return typeof said === 'string' ? said.replace(/^audit: |^invalid (?=\w+: )/, '') : '';
}
