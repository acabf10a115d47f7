import type { Consumer } from '../../../db/relay/consumer.ts';
import type { RelayedEvent } from '../../../db/relay/relay.store.ts';
import { DomainError } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import type { Acceptance, SentEvent } from './acceptance.ts';
import { subscriberOf, subscriberStore } from './subscribers.store.ts';

/**
 * Takes the events of all services from the relay, so that tenants can subscribe to them. The source and the id of an event are its
 * idempotency key, because the relay may hand it over twice; its subject is its order key.
 */
export const platformEvents = ({
  db,
  log,
  acceptance,
}: Pick<Deps, 'db' | 'log'> & { readonly acceptance: Acceptance }): Consumer => ({
  name: 'webhooks',
  async take(events) {
    // Most tenants subscribe to nothing, and their events would be stored for nobody.
    const wanted = await subscriberStore(db.background).among(events);
    const sent = events.filter(({ tenant, app }) => wanted.has(subscriberOf(tenant, app)));
    for (const app of new Set(sent.map((event) => event.app))) {
      const inputs = sent.filter((event) => event.app === app);
      const sender = { tenant: '', app, operator: true, isRelay: true };
      const outcomes = await acceptance.accept(sender, inputs.map(sentEvent));
      for (const [at, { refusal }] of outcomes.entries()) {
        if (refusal === undefined) continue;
        if (!isLasting(refusal)) throw refusal;
        // Another try could not succeed either, and would hold back the later events of the subject.
        log.error({ err: refusal, event: inputs[at]!.id }, 'an event of the platform cannot be delivered');
      }
    }
  },
});

const sentEvent = ({ id, source, type, tenant, subject, data }: RelayedEvent): SentEvent => ({
  input: {
    type,
    tenant_id: tenant,
    data: data as Record<string, unknown>,
    idempotency_key: `${source}#${id}`,
    order_key: subject,
    channels: [],
  },
});

const isLasting = (error: Error): boolean =>
  error instanceof DomainError && (error.kind === 'invalid' || error.kind === 'tooLarge');
