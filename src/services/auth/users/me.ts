import { isDeepStrictEqual } from 'node:util';
import type { Me } from '../../../../generated/auth/server.ts';
import type { Consent, PersonalData, ProfileUpdate, User } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { Forbidden, Invalid, NotFound, Unauthenticated } from '../../../lib/errors.ts';
import { authorOf, userOfCaller, type CallingUser } from '../directory/app-context.ts';
import { assignmentStore } from '../roles/assignments.store.ts';
import type { Deps } from '../factors/deps.ts';
import { mostDevices } from '../sessions/devices.ts';
import { deviceStore } from '../sessions/devices.store.ts';
import { eraseUser } from './erasure.ts';
import { exportStore } from './export.store.ts';
import { requireFresh } from '../sessions/fresh.ts';
import { refuseImpersonation } from '../sessions/impersonation.ts';
import { reauthenticate } from '../factors/reauthentication.ts';
import { asSeenFrom, mostSessions } from '../sessions/sessions.ts';
import { sessionStore } from '../sessions/sessions.store.ts';
import { checkReachable, cleanProfile } from '../text/user-profile.ts';
import { userStore } from '../directory/users.store.ts';
import type { Write } from '../directory/writes.ts';

/** Dependencies that exist only if the resource is built; without it there are no consents. */
export interface Optional {
  /** The user's grants to OAuth clients, newest first. */
  readonly consentsOf?: (tenant: string, userId: string) => Promise<Consent[]>;
}

/** Maximum number of organizations in an export. */
const mostOrganizations = 1_000;

/** Me: the account of the caller. */
export const me = (deps: Deps & Optional) =>
  ({
    async get(_request, context) {
      if (context.session === null) return account(deps, context);
      const { tenant, app, userId } = context;
      const user = await deps.knownUsers({ tenant, app, id: userId! });
      // The account was erased after the session was admitted.
      if (!user) throw Unauthenticated();
      return user;
    },

    async update({ body }, context) {
      const { app, userId } = await userOfCaller(deps, context);
      const { email, ...change } = cleanProfile(body);
      return deps.write(authorOf(context, app), (tx) => changeProfile(tx, userId, email, change));
    },

    async delete(_request, context) {
      refuseImpersonation(context);
      const { app, userId } = await userOfCaller(deps, context);
      return deps.write(authorOf(context, app), async (tx) => {
        await requireFresh(deps, tx.sql, context);
        await eraseUser(tx, await userStore(tx.sql).lock(tx.tenant, tx.app, userId));
        return { status: 'account_deleted' as const };
      });
    },

    async export(_request, context) {
      refuseImpersonation(context);
      const caller = await userOfCaller(deps, context);
      await requireFresh(deps, deps.db.sql, context);
      return personalData(deps, context, caller);
    },

    async switchOrg({ body: { org_id } }, context) {
      const { session } = context;
      if (session === null) throw NeedsSession();
      const { app, userId } = await userOfCaller(deps, context);
      return deps.write(authorOf(context, app), async (tx) => {
        const store = sessionStore(tx.sql);
        if (org_id !== null && !(await store.holdMembership(tx.tenant, tx.app, userId, org_id)))
          throw NotFound('organization');
        const switched = await store.switchOrg(tx.tenant, session.id, org_id);
        if (!switched) throw Unauthenticated();
        tx.changed('session', session.id, 'reload');
        return asSeenFrom(context, switched);
      });
    },

    async reauthenticate({ body }, context) {
      refuseImpersonation(context);
      const caller = await userOfCaller(deps, context);
      if (context.session === null) throw NeedsSession();
      await reauthenticate(deps, context, caller, context.session.id, body);
      return { status: 'ok' };
    },
  }) satisfies Omit<Me<Context>, 'consents' | 'revokeConsent'>;

const NeedsSession = () => Forbidden('a session is needed');

/** The account as it is stored now. */
async function account(deps: Deps, context: Context): Promise<User> {
  const { app, userId } = await userOfCaller(deps, context);
  return userStore(deps.db.sql).get(app.tenant, app.id, userId);
}

/** Absent members are unchanged; a given email must equal the stored one. */
async function changeProfile(
  tx: Write,
  userId: string,
  email: string | null | undefined,
  { username, name, image, metadata }: Omit<ProfileUpdate, 'email'>,
): Promise<User> {
  const store = userStore(tx.sql);
  const user = await store.lock(tx.tenant, tx.app, userId);
  if (email !== undefined && email !== user.email) throw Invalid('email: cannot be changed');
  const given = { username, name, image, metadata };
  const next = { ...user };
  for (const [member, value] of Object.entries(given))
    if (value !== undefined) Object.assign(next, { [member]: value });
  checkReachable(next);
  const fields = changeable.filter((member) => !isDeepStrictEqual(next[member], user[member]));
  if (fields.length === 0) return user;
  const updated = await store.update(tx.tenant, next);
  tx.emit('user.updated', userId, { user_id: userId, fields });
  return updated;
}

const changeable = ['username', 'name', 'image', 'metadata'] as const;

async function personalData(
  { db, consentsOf }: Deps & Optional,
  context: Context,
  { app, userId }: CallingUser,
): Promise<PersonalData> {
  const { tenant } = app;
  const { sql } = db;
  const own = await sessionStore(sql).ownOfUser(tenant, userId, mostSessions);
  return {
    user: await userStore(sql).get(tenant, app.id, userId),
    sessions: own.map((session) => asSeenFrom(context, session)),
    devices: await deviceStore(sql).list(tenant, userId, mostDevices),
    organizations: await exportStore(sql).organizations(tenant, userId, mostOrganizations),
    mfa_enrollments: await exportStore(sql).enrollments(tenant, userId),
    roles: await assignmentStore(sql).rolesOf(tenant, userId),
    consents: (await consentsOf?.(tenant, userId)) ?? [],
  };
}
