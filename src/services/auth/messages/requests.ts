import { DomainError } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import type { Engine } from '../../../db/engine/index.ts';
import { askedBy } from '../../../notify/message-limits.ts';
import { sendOneTime } from './account-messages.ts';
import { accountStore, type Account } from '../directory/accounts.store.ts';
import type { Deps } from './deps.ts';
import type { KnownApp } from '../directory/directory.ts';
import type { OneTimePurpose } from '../directory/one-time.store.ts';
import { requestStore, type AddressRequest } from './requests.store.ts';
import { cleanEmail } from '../text/text-rules.ts';

const channel = 'auth_requests';

/** Records that a message is wanted. Whether the account exists is looked up later: the response does not wait for it. */
export const requestMessage = (
  { db }: Pick<Deps, 'db'>,
  { tenant, id: app_id }: KnownApp,
  kind: OneTimePurpose,
  email: string,
  ip: string | null,
): Promise<void> =>
  db.transaction(async (sql) => {
    const network = askedBy(null, ip).network;
    const request = { id: newId('req'), tenant_id: tenant, app_id, kind, email: cleanEmail(email), network };
    await requestStore(sql).insert(request);
    await db.notices.send(sql, channel, '');
  });

/** Has the engine carry out requests as soon as they are made, in the order in which they were. */
export function carryOutRequests(engine: Pick<Engine, 'dueRows'>, deps: Deps): void {
  engine.dueRows<AddressRequest>({
    name: channel,
    width: 1,
    claim: (count) => requestStore(deps.db.sql).claim(count),
    run: (request) => carryOut(deps, request),
  });
}

/** Looks the address up and sends the message if an account has it. */
async function carryOut(deps: Deps, request: AddressRequest): Promise<void> {
  const { tenant_id, id } = request;
  try {
    await send(deps, request);
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== 'rateLimited') throw error;
    // The requester is not told, just as they are not told whether the account exists.
    deps.log.info({ kind: request.kind }, 'a message was not made, because a limit of messages is reached');
    await requestStore(deps.db.sql).take(tenant_id, id);
  }
}

/** If a limit stops the message, its new token is rolled back: the previous one stays valid. */
async function send(
  deps: Deps,
  { id, tenant_id, app_id, kind, email, network }: AddressRequest,
): Promise<void> {
  const app = await deps.directory.app(app_id);
  const tag = await deps.directory.tagOf(tenant_id);
  await deps.write({ tenant: tenant_id, app: app_id, actor: 'anonymous' }, async (write) => {
    if (!(await requestStore(write.sql).take(tenant_id, id)) || !app) return;
    const account = await accountStore(write.sql).find(tenant_id, app_id, { email });
    if (account && isWanted[kind](account))
      await sendOneTime(deps, write, app, tag, kind, { id: account.id, email }, { account: null, network });
  });
}

const isWanted: Record<OneTimePurpose, (account: Account) => boolean> = {
  verify_email: ({ email_verified }) => !email_verified,
  reset_password: () => true,
};
