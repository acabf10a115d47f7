import { createHash } from 'node:crypto';
import type { EventInput } from '../../../../generated/audit/types.ts';
import type { Consumer } from '../../../db/relay/consumer.ts';
import type { RelayedEvent } from '../../../db/relay/relay.store.ts';
import { DomainError } from '../../../lib/errors.ts';
import { isDeeper } from '../../../lib/json-levels.ts';
import type { Deps } from '../deps.ts';
import { limits } from './limits.ts';
import { type NewEvent, newEvent } from './new-event.ts';

/** The kind of event that a service's are. */
const categories: Readonly<Record<string, string>> = {
  auth: 'auth',
  authz: 'access',
  keys: 'access',
  storage: 'data',
  retrieval: 'data',
  sync: 'data',
  gateway: 'config',
  control: 'deployment',
  safety: 'ai',
  agents: 'ai',
  billing: 'billing',
  webhooks: 'system',
  jobs: 'system',
};

/** The most bytes and levels of an event's data that are kept; of others the digest is. */
const mostData = 24 * 1_024;
const mostLevels = limits.metadataLevels - 1;
const mostResource = 512;

/**
 * Records the events of all services. The source and the id of an event are its idempotency key, because the relay may hand it over
 * twice. What the service itself did is in its chains already.
 */
export const platformEvents = ({ known, intake, log }: Pick<Deps, 'known' | 'intake' | 'log'>): Consumer => ({
  name: 'audit',
  async take(events) {
    const others = events.filter(({ source }) => source !== '/audit');
    const drafts = others.flatMap((event) => draftOf(event, log));
    await Promise.all(
      // Each stands for itself; they are stored in this order all the same.
      (
        await Promise.all(
          drafts.map(async (event) => ({ event, stream: await known.of(event.tenant, event.app) })),
        )
      ).map((placed) => intake.add({ events: [placed] }).catch(unlessLasting(placed.event, log))),
    );
  },
});

/** An event that is refused now would be refused again, and would hold back the later events of its subject. */
const unlessLasting =
  ({ id }: { readonly id: string }, log: Deps['log']) =>
  (error: unknown): void => {
    if (!(error instanceof DomainError) || (error.kind !== 'invalid' && error.kind !== 'conflict'))
      throw error;
    log.error({ err: error, event: id }, 'an event of the platform cannot be recorded');
  };

function draftOf(event: RelayedEvent, log: Deps['log']): NewEvent[] {
  try {
    return [newEvent(inputOf(event), originOf(event), `${event.type}: `, laterOf(event))];
  } catch (error) {
    unlessLasting(event, log)(error);
    return [];
  }
}

/** The clock of the database, with which events are written, may be ahead of that of this process. */
const laterOf = ({ time }: RelayedEvent): number => Math.max(Date.now(), Date.parse(time));

const originOf = ({ tenant, app, source }: RelayedEvent) => ({
  tenant,
  app,
  recordedBy: 'relay',
  source: serviceOf(source),
});

const serviceOf = (source: string): string => source.split('/', 2)[1] ?? '';

/** What an event of the platform says, in the words of this service. */
export function inputOf({
  id,
  source,
  type,
  subject,
  actor,
  tenant,
  time,
  data,
  requestId,
}: RelayedEvent): EventInput {
  const service = serviceOf(source);
  const action = type.startsWith(`${service}.`) ? type.slice(service.length + 1) : type;
  const outcome = outcomeOf(action);
  const actorType = actorTypeOf(actor);
  return {
    timestamp: time,
    action,
    resource: action.split('.', 1)[0]!,
    category: categories[service] ?? 'system',
    user_id: actorType === 'user' ? actor : null,
    actor_type: actorType,
    resource_id: subject === '' ? null : subject.length > mostResource ? digestOf(subject) : subject,
    subject_id: subjectOf(data) ?? `tenant:${tenant}`,
    ip: null,
    user_agent: null,
    reason: null,
    outcome,
    severity: outcome === 'success' ? 'info' : 'warning',
    metadata: {
      event_id: id,
      source,
      ...(requestId === null ? {} : { request_id: requestId }),
      ...(actorType === 'user' ? {} : { actor }),
      ...dataOf(data),
    },
    idempotency_key: `${source}#${id}`,
  };
}

function dataOf(data: object): object {
  const text = JSON.stringify(data);
  return Buffer.byteLength(text) > mostData || isDeeper(data, mostLevels)
    ? { data_sha256: digestOf(text) }
    : { data };
}

function subjectOf(data: object): string | undefined {
  const { user_id, identifier_hash } = data as { user_id?: unknown; identifier_hash?: unknown };
  return [user_id, identifier_hash].find(
    (name): name is string => typeof name === 'string' && name !== '' && name.length <= 255,
  );
}

function outcomeOf(action: string): 'success' | 'failure' | 'denied' {
  if (action.endsWith('failed')) return 'failure';
  return /(?:denied|blocked)$/.test(action) ? 'denied' : 'success';
}

/** Programs and the platform have ids and names that are known. Any other actor is a user, whose id an asking server may have made. */
function actorTypeOf(actor: string): string {
  if (actor.startsWith('key_')) return 'key';
  if (actor.startsWith('client_') || Object.hasOwn(categories, actor)) return 'service';
  return ['root', 'anonymous', 'system', 'audit', 'relay'].includes(actor) ? 'system' : 'user';
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
