/** Checked by the compiler: `npm run check`. */
import { describe, expectTypeOf, it } from 'vitest';
import type * as AuthzServer from '../../generated/authz/server.ts';
import type * as KeysServer from '../../generated/keys/server.ts';
import {
  createPlinth,
  isPlinthError,
  type Answer,
  type ClientOptions,
  type List,
  type Plinth,
  type PlinthError,
  type RequestOptions,
} from '../src/index.ts';
import type * as Authz from '../src/services/authz/index.ts';
import type * as Keys from '../src/services/keys/index.ts';

const plinth = createPlinth({ baseUrl: 'http://plinth.invalid' });

/** The interfaces of a service, which its handlers implement; the client takes options where a handler takes a context. */
type Offered<Service, Server> = {
  [Resource in keyof Server & string]: Uncapitalize<Resource> extends keyof Service
    ? Service[Uncapitalize<Resource>] extends Server[Resource]
      ? 'offered'
      : Resource
    : Resource;
}[keyof Server & string];

interface AuthzInterfaces {
  Assignments: AuthzServer.Assignments<RequestOptions>;
  Decisions: AuthzServer.Decisions<RequestOptions>;
  Permissions: AuthzServer.Permissions<RequestOptions>;
  Policies: AuthzServer.Policies<RequestOptions>;
  Relations: AuthzServer.Relations<RequestOptions>;
  ResourceTypes: AuthzServer.ResourceTypes<RequestOptions>;
  Roles: AuthzServer.Roles<RequestOptions>;
  Subjects: AuthzServer.Subjects<RequestOptions>;
}
interface KeysInterfaces {
  Keys: KeysServer.Keys<RequestOptions>;
  Policies: KeysServer.Policies<RequestOptions>;
  Scopes: KeysServer.Scopes<RequestOptions>;
  Usage: KeysServer.Usage<RequestOptions>;
}

describe('the types of the client', () => {
  it('offer the interfaces that the handlers implement, so that a remote service stands in for a local one', () => {
    expectTypeOf<Offered<Plinth['authz'], AuthzInterfaces>>().toEqualTypeOf<'offered'>();
    expectTypeOf<Offered<Plinth['keys'], KeysInterfaces>>().toEqualTypeOf<'offered'>();
  });

  it('cover every resource of a service', () => {
    expectTypeOf<keyof Plinth['authz']>().toEqualTypeOf<Uncapitalize<keyof AuthzInterfaces>>();
    expectTypeOf<keyof Plinth['keys']>().toEqualTypeOf<Uncapitalize<keyof KeysInterfaces>>();
  });

  it('say what an answer is, and what a list is of', () => {
    expectTypeOf(plinth.authz.roles.create).returns.toEqualTypeOf<Answer<Authz.Role, Authz.Error>>();
    expectTypeOf(plinth.authz.roles.list).returns.toEqualTypeOf<List<Authz.Role, Authz.Error>>();
    expectTypeOf(plinth.authz.roles.delete).returns.resolves.toEqualTypeOf<void>();
    expectTypeOf(plinth.authz.roles.list).returns.resolves.toEqualTypeOf<Authz.Role[]>();
  });

  it('say what comes in an event stream', () => {
    expectTypeOf(plinth.keys.keys.changes).returns.toExtend<
      AsyncIterable<{ event: 'change'; id?: string; data: Keys.Change }>
    >();
  });

  it('want what the contract wants, and no more', () => {
    const { roles } = plinth.authz;
    expectTypeOf<Parameters<typeof roles.create>[0]['body']>().toEqualTypeOf<Authz.RoleCreate>();
    expectTypeOf<{ name: 'Editor' }>().toExtend<Authz.RoleCreate>();
    // Undefined members may be passed on, even with `exactOptionalPropertyTypes`.
    expectTypeOf<{ name: 'Editor'; description: string | undefined }>().toExtend<Authz.RoleCreate>();
    expectTypeOf<Record<never, never>>().not.toExtend<Parameters<typeof roles.get>[0]>();
    expectTypeOf<[]>().toExtend<Parameters<typeof roles.list>>();
    expectTypeOf<[]>().not.toExtend<Parameters<typeof roles.create>>();
    // @ts-expect-error a misspelt member
    void (() => roles.list({ limti: 10 }));
    // @ts-expect-error a body of the wrong type
    void (() => roles.create({ body: { name: 1 } }));
  });

  it('take one kind of credentials, which may be undefined', () => {
    expectTypeOf<{ baseUrl: string; token: string | undefined }>().toExtend<ClientOptions>();
    expectTypeOf<{ baseUrl: string; token: string; apiKey: string }>().not.toExtend<ClientOptions>();
    expectTypeOf<{ baseUrl: string; fetch: typeof globalThis.fetch }>().toExtend<ClientOptions>();
  });

  it('say what the body of a method’s errors is', () => {
    const thrown: unknown = undefined;
    if (isPlinthError(thrown)) expectTypeOf(thrown).toEqualTypeOf<PlinthError>();
    if (isPlinthError(thrown, plinth.authz.decisions.enforce)) {
      expectTypeOf(thrown.body).toEqualTypeOf<Authz.Error | Authz.Refusal>();
    }
    if (isPlinthError(thrown, plinth.authz.roles.list))
      expectTypeOf(thrown.body).toEqualTypeOf<Authz.Error>();
  });
});
