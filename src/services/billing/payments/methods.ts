import type { PaymentMethod, PaymentMethodCreate } from '../../../../generated/billing/types.ts';
import type { View } from '../../../db/view.ts';
import type { Author } from '../../../db/write.ts';
import { DomainError, Invalid } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { momentText } from '../../../lib/moments.ts';
import { CustomerNotFound, InvalidState, PaymentMethodNotFound, Refused } from '../errors.ts';
import type { AttachedMethod, AttachResult, Source } from '../providers/provider.ts';
import { configured } from '../providers/providers.ts';
import type { Write } from '../writes.ts';
import { isCardNumber } from './card-numbers.ts';
import { ProviderFailed, TimedOut } from './charging.ts';
import type { PaymentDeps } from './deps.ts';
import { type MethodRow, methodStore } from './methods.store.ts';
import { type PayerRow, payerStore } from './payers.store.ts';

/** The most methods of a customer. */
const mostMethods = 50;

/** A method as responses and events show it. */
export const methodOf = (row: MethodRow): PaymentMethod => ({
  id: row.id,
  customer_id: row.customer_id,
  type: row.type,
  last4: row.last4,
  brand: row.brand,
  expiry_month: row.expiry_month,
  expiry_year: row.expiry_year,
  is_default: row.is_default,
  created_at: row.created_at,
});

/** Who does something to methods, and whose they may be. */
interface Asking {
  readonly author: Author;
  readonly view: View;
}

/** Attaches a method at the provider, which keeps the card, and stores what people recognise it by. */
export async function attach(
  deps: PaymentDeps,
  { author, view }: Asking,
  { customer_id, token, set_default }: PaymentMethodCreate,
): Promise<MethodRow> {
  if (isCardNumber(token)) throw Invalid('token: must not be the number of a card');
  const customer = await payerStore(deps.db.sql).find(view, customer_id);
  if (customer === undefined) throw CustomerNotFound();
  const owner = { tenant_id: customer.tenant_id, customer_id };
  const provider = configured(deps.provider);
  const store = methodStore(deps.db.sql);
  if (!(await store.hasRoom(owner, mostMethods))) throw TooMany();
  const id = newId('pm', deps.clock.now());
  const processorId = await store.processorCustomer(owner, provider.name);
  const result = await provider.attach({
    ...{ id, token, tenant: customer.tenant_id },
    customer: { id: customer_id, processorId },
  });
  const method = attachedBy(result);
  const kept = await deps.write(author, (tx) => keep(tx, deps, { customer, id, method }, set_default));
  if (!(kept instanceof DomainError)) return kept;
  // The provider has the method already, and keeps none that is not ours.
  forget(deps, method);
  throw kept;
}

const TooMany = () => Invalid(`customer_id: already has ${mostMethods} payment methods`);

/** @throws Refused */
function attachedBy(result: AttachResult): AttachedMethod {
  switch (result.state) {
    case 'attached':
      return result.method;
    case 'failed':
      throw Refused('payment_failed', result.message, {
        kind: 'paymentRequired',
        about: { failure_code: result.code },
      });
    case 'rejected':
      throw ProviderFailed(result.cause);
    case 'unknown':
      throw TimedOut(result.cause);
  }
}

/** The provider forgets a method after the response: for the customer it is gone, whatever the provider answers. */
function forget({ provider, later, log }: PaymentDeps, source: Source): void {
  later.run(async () => {
    const result = await provider?.detach(source);
    if (result !== undefined && result.state !== 'detached')
      log.warn({ err: 'cause' in result ? result.cause : undefined }, 'a payment method was not detached');
  });
}

interface Attached {
  readonly customer: PayerRow;
  readonly id: string;
  readonly method: AttachedMethod;
}

/** Stores a method, or returns why it cannot be stored: the provider may have taken long to answer. */
async function keep(
  tx: Write,
  { clock, provider }: PaymentDeps,
  { customer, id, method }: Attached,
  isDefault: boolean,
): Promise<MethodRow | DomainError> {
  await payerStore(tx.sql).lock(customer);
  const view = { tenant: customer.tenant_id, app: customer.app_id };
  if ((await payerStore(tx.sql).find(view, customer.id)) === undefined) return CustomerNotFound();
  const row = {
    ...{ tenant_id: customer.tenant_id, id, app_id: customer.app_id, customer_id: customer.id },
    ...{ processor_name: configured(provider).name, processor_id: method.processorId },
    ...{
      processor_customer_id: method.customerId,
      type: method.type,
      last4: method.last4,
      brand: method.brand,
    },
    ...{
      expiry_month: method.expiryMonth,
      expiry_year: method.expiryYear,
      created_at: momentText(clock.now()),
    },
  };
  const stored = await methodStore(tx.sql).insert(row, mostMethods);
  if (stored === undefined) return TooMany();
  tx.emit('billing.payment_method.attached', stored, methodOf(stored));
  return isDefault ? await prefer(tx, stored) : stored;
}

/** Detaches a method; the newest of the others takes its place as the default. */
export async function detach(deps: PaymentDeps, { author, view }: Asking, id: string): Promise<void> {
  const gone = await deps.write(author, async (tx) => {
    const method = await locked(tx, view, id);
    const customer = { tenant_id: method.tenant_id, id: method.customer_id };
    const [newest] = (await methodStore(tx.sql).list(method)).filter((other) => other.id !== id);
    if (newest === undefined && (await payerStore(tx.sql).owes(customer)))
      throw InvalidState('an invoice is to be paid with it');
    await methodStore(tx.sql).delete(method);
    tx.emit('billing.payment_method.detached', method, methodOf(method));
    if (method.is_default && newest !== undefined) await prefer(tx, newest);
    return method;
  });
  if (gone.processor_name === deps.provider?.name)
    forget(deps, { processorId: gone.processor_id, customerId: gone.processor_customer_id });
}

export const makeDefault = (deps: PaymentDeps, { author, view }: Asking, id: string): Promise<MethodRow> =>
  deps.write(author, async (tx) => await prefer(tx, await locked(tx, view, id)));

/** Locks the customer of a method, so that nobody else changes its methods, and reads the method. */
async function locked({ sql }: Pick<Write, 'sql'>, view: View, id: string): Promise<MethodRow> {
  const found = await methodStore(sql).find(view, id);
  if (found === undefined) throw PaymentMethodNotFound();
  await payerStore(sql).lock({ tenant_id: found.tenant_id, id: found.customer_id });
  const method = await methodStore(sql).find(view, id);
  if (method === undefined) throw PaymentMethodNotFound();
  return method;
}

async function prefer(tx: Write, method: MethodRow): Promise<MethodRow> {
  if (method.is_default) return method;
  await methodStore(tx.sql).setDefault(method, method.id);
  const preferred = { ...method, is_default: true };
  tx.emit('billing.payment_method.default_changed', preferred, methodOf(preferred));
  return preferred;
}
