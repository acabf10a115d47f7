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
import { eventTypes } from './catalogue/event-types.ts';
import { dlq } from './deliveries/dead-letters.ts';
import { deliveries } from './deliveries/deliveries.ts';
import { stats } from './deliveries/stats.ts';
import type { Deps } from './deps.ts';
import { createDispatcher } from './dispatch/dispatcher.ts';
import { sweeps } from './dispatch/sweeps.ts';
import { endpoints } from './endpoints/endpoints.ts';
import { sealSweeps } from './endpoints/seals.ts';
import { encodeError } from './errors.ts';
import { createAcceptance } from './events/acceptance.ts';
import { events } from './events/events.ts';
import { platformEvents } from './events/platform-events.ts';
import { orderKeySweep } from './events/sweeps.ts';
import { createSealing } from './sealing.ts';
import { settings } from './settings.ts';
import { createWriter } from './writes.ts';

export const webhooks: ServiceModule<typeof settings> = {
  name: 'webhooks',
  migrations: new URL('./migrations/', import.meta.url),
  settings,
  create({ db, settings, sealer, log, allowPrivateTargets }): Service {
    const given = { db, settings, log, allowPrivateTargets, sealing: createSealing(sealer) };
    const dispatcher = createDispatcher(given);
    const deps: Deps = { ...given, write: createWriter({ db }), dispatcher };
    const acceptance = createAcceptance(deps);
    return {
      handlers: {
        Deliveries: deliveries(deps),
        Dlq: dlq(deps),
        Endpoints: endpoints(deps),
        Events: events({ ...deps, acceptance }),
        EventTypes: eventTypes(deps),
        Stats: stats(deps),
      },
      encodeError,
      sweeps: [...sweeps(deps), orderKeySweep(deps), ...sealSweeps(deps)],
      outbox: {},
      consumers: [platformEvents({ db, log, acceptance })],
      start: () => dispatcher.start(),
      async stop() {
        await acceptance.close();
        await dispatcher.stop();
      },
    };
  },
};
