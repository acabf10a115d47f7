import { newId } from '../../lib/ids.ts';
import { periodic } from '../../db/periodic.ts';
import { sendOneTime } from './account-messages.ts';
import { accountStore, type Account } from './accounts.store.ts';
import type { Deps } from './deps.ts';
import type { KnownApp } from './directory.ts';
import type { OneTimePurpose } from './one-time.store.ts';
import { requestStore, type AddressRequest } from './requests.store.ts';
import { cleanEmail } from './text-rules.ts';

const channel = 'auth_requests';
/** Requests that are read at once. */
const batch = 100;
/** Notices get lost; then somebody looks this often. */
const sweepMs = 10_000;

/** Notes that a message is wanted. Whether there is such an account is looked up later: the answer does not wait for it. */
export const requestMessage = (
  { db }: Pick<Deps, 'db'>,
  { tenant, id: app_id }: KnownApp,
  kind: OneTimePurpose,
  email: string,
): Promise<void> =>
  db.transaction(async (sql) => {
    const request = { id: newId('req'), tenant_id: tenant, app_id, kind, email: cleanEmail(email) };
    await requestStore(sql).insert(request);
    await db.notices.send(sql, channel, '');
  });

/** Carries out what was asked for, as soon as it is asked. */
export function startRequests(deps: Deps): { stop(): Promise<void> } {
  const { db, log } = deps;
  const ended = new AbortController();
  let running: Promise<void> | undefined;
  let again = false;

  /** One run at a time; what is asked for meanwhile is seen by one more. */
  function wake(): Promise<void> {
    again = true;
    return (running ??= runs().finally(() => (running = undefined)));
  }
  async function runs(): Promise<void> {
    while (again && !ended.signal.aborted) {
      again = false;
      await carryOutAll(deps, ended.signal).catch((error: unknown) =>
        log.warn({ err: error }, 'requests for messages were not read and will be tried again'),
      );
    }
  }

  const quiet = db.notices.listen(
    channel,
    () => void wake(),
    () => void wake(),
  );
  const sweep = periodic({ db, log, name: 'auth.requests', everyMs: sweepMs, run: wake });
  return {
    async stop() {
      quiet();
      ended.abort();
      await Promise.all([sweep.stop(), running]);
    },
  };
}

/** One that fails does not keep the others from being carried out; it is tried again with the next run. */
async function carryOutAll(deps: Deps, signal: AbortSignal): Promise<void> {
  for (let done = batch; done === batch && !signal.aborted;) {
    done = 0;
    for (const request of await requestStore(deps.db.sql).oldest(batch)) {
      if (signal.aborted) return;
      try {
        await carryOut(deps, request);
        done += 1;
      } catch (error) {
        deps.log.warn({ err: error, request: request.id }, 'a message was not made and will be tried again');
      }
    }
  }
}

/** Looks the address up and sends the message, if there is somebody to send it to. */
async function carryOut(deps: Deps, { id, tenant_id, app_id, kind, email }: AddressRequest): Promise<void> {
  const app = await deps.directory.app(app_id);
  const tag = await deps.directory.tagOf(tenant_id);
  await deps.write({ tenant: tenant_id, app: app_id, actor: 'anonymous' }, async (write) => {
    if (!(await requestStore(write.sql).take(tenant_id, id)) || !app) return;
    const account = await accountStore(write.sql).find(tenant_id, app_id, { email });
    if (account && isWanted[kind](account))
      await sendOneTime(deps, write, app, tag, kind, { id: account.id, email });
  });
}

const isWanted: Record<OneTimePurpose, (account: Account) => boolean> = {
  verify_email: ({ email_verified }) => !email_verified,
  reset_password: () => true,
};
