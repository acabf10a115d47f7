import type { Devices } from '../../../../generated/auth/server.ts';
import type { Context } from '../../../http/context.ts';
import { Unauthenticated } from '../../../lib/errors.ts';
import { accountStore } from '../directory/accounts.store.ts';
import { authorOf, userOfCaller } from '../directory/app-context.ts';
import type { Deps } from './deps.ts';
import { deviceStore } from './devices.store.ts';
import { refuseImpersonation } from './impersonation.ts';
import { endSessions } from './revocations.ts';
import { sessionStore } from './sessions.store.ts';
import type { Write } from '../directory/writes.ts';

/** Maximum number of devices in a list. */
export const mostDevices = 100;

/** How long a device is trusted. */
const trustMs = 30 * 24 * 3_600_000;

/** Devices: those on which the user signs in. */
export const devices = (deps: Pick<Deps, 'db' | 'directory' | 'write'>) =>
  ({
    async list(_request, context) {
      const { app, userId } = await userOfCaller(deps, context);
      return { devices: await deviceStore(deps.db.sql).list(app.tenant, userId, mostDevices) };
    },

    async get({ deviceId }, context) {
      const { app, userId } = await userOfCaller(deps, context);
      return deviceStore(deps.db.sql).get(app.tenant, userId, deviceId);
    },

    async delete({ deviceId }, context) {
      const { app, userId } = await userOfCaller(deps, context);
      await deps.write(authorOf(context, app), (tx) =>
        forgetDevice(tx, userId, deviceId, context.session?.id),
      );
      return { status: 'deleted' };
    },

    /** Trust skips the second factor, so an impersonator cannot give it. */
    async trust({ deviceId }, context) {
      refuseImpersonation(context);
      const { app, userId } = await userOfCaller(deps, context);
      return deps.write(authorOf(context, app), async (tx) => {
        // A password reset that came first has ended the session and all trust; a later one finds the device.
        await accountStore(tx.sql).lock(tx.tenant, tx.app, userId);
        const { session } = context;
        if (session && (await sessionStore(tx.sql).hold(tx.tenant, session.id)) === undefined)
          throw Unauthenticated();
        const device = await deviceStore(tx.sql).trust(tx.tenant, userId, deviceId, trustMs);
        tx.emit('auth.device.trusted', deviceId, { user_id: userId, until: device.trusted_until });
        return device;
      });
    },

    async untrust({ deviceId }, context) {
      const { app, userId } = await userOfCaller(deps, context);
      return deps.write(authorOf(context, app), (tx) =>
        deviceStore(tx.sql).trust(tx.tenant, userId, deviceId, null),
      );
    },
  }) satisfies Devices<Context>;

/** The row is deleted first: an earlier sign-in on the device is found by its session, and a later one is on a new device. */
async function forgetDevice(tx: Write, userId: string, deviceId: string, current: string | undefined) {
  await deviceStore(tx.sql).delete(tx.tenant, userId, deviceId);
  const store = sessionStore(tx.sql);
  const ids = await store.idsOfDevice(tx.tenant, deviceId);
  await endSessions(
    tx,
    ids.filter((id) => id !== current),
    'device_deleted',
  );
  await store.leaveDevice(tx.tenant, deviceId);
}
