import { expect } from 'vitest';
import type { Member, Organization, OrgRole } from '../../../../generated/auth/types.ts';
import type { TestRequest, TestServer } from '../../../testing/server.ts';
import { adminTools, type SignedIn } from './admin.ts';
import { newSlug } from './index.ts';

/** An organization and a signed-in user for each role. */
export interface Staffed {
  readonly org: Organization;
  readonly path: string;
  readonly owner: SignedIn;
  readonly admin: SignedIn;
  readonly member: SignedIn;
  /** A signed-in user of the same app who is no member. */
  readonly stranger: SignedIn;
}

/** Helpers for the tests about organizations. */
export function orgTools(server: Pick<TestServer, 'request' | 'db'>) {
  const api = adminTools(server);
  const as = ({ session_token }: Pick<SignedIn, 'session_token'>): TestRequest => ({ token: session_token });

  const create = (body: object = {}, options: TestRequest = {}): Promise<Organization> =>
    api.send('POST', '/organizations', { ...options, body: { name: 'Org', slug: newSlug(), ...body } });

  const add = (org: Pick<Organization, 'id'>, { user }: SignedIn, role: OrgRole): Promise<Member> =>
    api.send('POST', `/organizations/${org.id}/members`, { body: { user_id: user.id, role } });

  return {
    ...api,
    as,
    create,
    add,
    async staffed(): Promise<Staffed> {
      const [owner, admin, member, stranger] = await Promise.all([
        api.signedIn(),
        api.signedIn(),
        api.signedIn(),
        api.signedIn(),
      ]);
      const org = await create({}, as(owner));
      await add(org, admin, 'admin');
      await add(org, member, 'member');
      return { org, path: `/organizations/${org.id}`, owner, admin, member, stranger };
    },
    /** The user's membership in the organization. */
    async membership(org: Pick<Organization, 'id'>, { user }: SignedIn): Promise<Member> {
      const { members } = (await api.send('GET', `/organizations/${org.id}/members?limit=200`)) as {
        members: Member[];
      };
      return members.find(({ user_id }) => user_id === user.id)!;
    },
    /** Types and data of the events about a subject, in order of occurrence. */
    async events(subject: string): Promise<{ type: string; data: Record<string, unknown> }[]> {
      return await server.db.sql<{ type: string; data: Record<string, unknown> }[]>`
        select type, data from auth.outbox where subject = ${subject} order by id`;
    },
    /** Expects that both requests are refused with identical bytes. */
    async expectSame404(method: string, one: string, other: string, options: TestRequest): Promise<void> {
      const [first, second] = await Promise.all(
        [one, other].map((path) => server.request(method, `/auth/v1/auth${path}`, options)),
      );
      expect([method, one, first!.status, first!.text]).toEqual([method, one, 404, second!.text]);
    },
  };
}
