/**
 * Webhooks: takes an event once and brings it, signed, to every endpoint that subscribed to it, until the endpoint has taken it or the
 * schedule is used up; and keeps what happened.
 *
 * Terminology:
 * - Event type: a name in the catalogue of an app, with an optional schema of the data.
 * - Event: one accepted message of a type for one tenant.
 * - Endpoint: a tenant's URL, with the patterns of the event types that it wants and a secret. Receiver: the program behind the URL.
 * - Delivery: the duty to bring one event to one endpoint. Attempt: one HTTP request of a delivery.
 * - Dead letter: a delivery that failed for good, kept for replay.
 * - Lane: all deliveries of one endpoint. Rate, concurrency and the breaker are per lane.
 */
import type { Service, ServiceModule } from '../../http/service.ts';
import { encodeError } from './errors.ts';
import { settings } from './settings.ts';

export const webhooks: ServiceModule<typeof settings> = {
  name: 'webhooks',
  migrations: new URL('./migrations/', import.meta.url),
  // What is not built yet is neither served nor documented.
  built: [],
  settings,
  create(): Service {
    return { handlers: {}, encodeError };
  },
};
