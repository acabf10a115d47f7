/** The service in this process: the acceptance of events and their delivery, without HTTP in front. */
import type { Database } from '../../src/db/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { createSealer } from '../../src/lib/seal.ts';
import { readSettings } from '../../src/lib/settings.ts';
import { newWebhookSecret } from '../../src/lib/standard-webhooks.ts';
import { createDispatcher } from '../../src/services/webhooks/dispatch/dispatcher.ts';
import { type Acceptance, createAcceptance } from '../../src/services/webhooks/events/acceptance.ts';
import { createSealing } from '../../src/services/webhooks/sealing.ts';
import { settings } from '../../src/services/webhooks/settings.ts';
import { log } from '../place.ts';
import { payload } from './moments.ts';

export const masterKey = Buffer.alloc(32, 7);
export const type = 'invoice.paid';
/** The maximum number of attempts in flight, on either side. */
export const slots = 100;

const sealing = createSealing(createSealer(masterKey));

export interface Service {
  readonly acceptance: Acceptance;
  /** Accepts an event of a tenant. @throws the refusal */
  readonly send: (tenant: string) => Promise<void>;
  /** Resolves when no delivery is left. */
  readonly settled: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Starts the service; without `dispatch` it accepts events but delivers none. */
export async function startService(db: Database, { dispatch = true } = {}): Promise<Service> {
  const given = readSettings(settings, { PLINTH_WEBHOOKS_DISPATCH: dispatch ? 'on' : 'off' });
  const dispatcher = createDispatcher({ db, sealing, settings: given, log, allowPrivateTargets: true });
  const acceptance = createAcceptance({ db, settings: given, dispatcher });
  await dispatcher.start();
  return {
    acceptance,
    async send(tenant) {
      const input = { type, data: payload() as never, idempotency_key: null, order_key: null, channels: [] };
      const sender = { tenant, app: 'default', operator: false };
      const [outcome] = await acceptance.accept(sender, [{ input }]);
      if (outcome?.refusal !== undefined) throw outcome.refusal;
    },
    async settled() {
      for (let left = 1; left > 0;) {
        const [row] = await db.sql<[{ left: number }]>`
          select count(*)::integer as left from (select from webhooks.delivery limit 1) as one`;
        left = row.left;
      }
    },
    async stop() {
      await acceptance.close();
      await dispatcher.stop();
    },
  };
}

/** Registers the type of the measured events. */
export async function registerType({ sql }: Pick<Database, 'sql'>): Promise<void> {
  await sql`
    insert into webhooks.event_type (app_id, name, description, "group", version) values ('default', ${type}, '', '', '1')
    on conflict do nothing`;
}

export interface MadeEndpoint {
  readonly tenant: string;
  readonly url: string;
}

/** Creates endpoints for all events of their tenants. */
export async function createEndpoints(
  { sql }: Pick<Database, 'sql'>,
  made: readonly MadeEndpoint[],
): Promise<void> {
  const endpoints = made.map(({ tenant, url }) => {
    const id = newId('ep');
    const box = sealing.sealSecret({ tenant_id: tenant, id }, newWebhookSecret());
    return { tenant, url, id, secret: newId('sec'), box: box.toString('base64') };
  });
  const of = (member: 'tenant' | 'url' | 'id' | 'secret' | 'box') => endpoints.map((one) => one[member]);
  await sql`
    with given as (
      select * from unnest(${of('tenant')}::text[], ${of('url')}::text[], ${of('id')}::text[], ${of('secret')}::text[], ${of('box')}::text[])
        as given(tenant_id, url, id, secret_id, box)
    ),
    subscribed as (
      insert into webhooks.subscription (tenant_id, app_id, pattern, endpoint_id) select tenant_id, 'default', '*', id from given
    ),
    secrets as (
      insert into webhooks.endpoint_secret (tenant_id, endpoint_id, id, box)
      select tenant_id, id, secret_id, decode(box, 'base64') from given
    )
    insert into webhooks.endpoint (
      tenant_id, id, app_id, url, description, event_types, channels, ordered, headers, rate_limit, metadata, enabled, payload_format,
      max_concurrency, timeout_ms, max_attempts
    )
    select tenant_id, id, 'default', url, '', '{*}', '{}', false, '{}', 0, '{}', true, 'standard', ${slots}::integer, 15000, 10 from given`;
}

/** Sends this many events to the tenants in turn, `callers` at a time. */
export async function feed(
  send: (tenant: string) => Promise<unknown>,
  tenants: readonly string[],
  { events, callers = 32 }: { readonly events: number; readonly callers?: number },
): Promise<void> {
  let nth = 0;
  const caller = async () => {
    while (nth < events) await send(tenants[nth++ % tenants.length]!);
  };
  await Promise.all(Array.from({ length: callers }, caller));
}
