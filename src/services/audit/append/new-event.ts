import { isIP } from 'node:net';
import type { EventInput } from '../../../../generated/audit/types.ts';
import { newId } from '../../../lib/ids.ts';
import { Invalid } from '../../../lib/errors.ts';
import { isDeeper } from '../../../lib/json-levels.ts';
import { momentText, parseMoment } from '../../../lib/moments.ts';
import { canonicalJson } from '../record/canonical.ts';
import { partJson } from '../record/parts.ts';
import { limits } from './limits.ts';

/** The category of what the service itself does. */
export const ownCategory = 'audit';

/** Where an event belongs and who recorded it. */
export interface Origin {
  readonly tenant: string;
  readonly app: string;
  /** The credential: its kind and id. */
  readonly recordedBy: string;
  /** The service of the platform in which it happened. */
  readonly source: string | null;
}

/** What an event says, with all defaults. */
export interface EventValue {
  readonly timestamp: string;
  readonly user_id: string | null;
  readonly actor_type: string;
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly action: string;
  readonly resource: string;
  readonly category: string;
  readonly resource_id: string | null;
  readonly subject_id: string | null;
  readonly outcome: 'success' | 'failure' | 'denied';
  readonly severity: 'info' | 'warning' | 'critical';
  readonly reason: string | null;
  readonly metadata: object;
}

/** An event that is checked and waits to be numbered. */
export interface NewEvent extends Origin {
  readonly id: string;
  readonly value: EventValue;
  /** The canonical JSON of its parts. */
  readonly actor: Buffer;
  readonly content: Buffer;
  /** The person to whom each part belongs; null for nobody. */
  readonly actorOwner: string | null;
  readonly contentOwner: string | null;
  /** The key that makes a repetition safe, and what was sent with it. */
  readonly repeat: { readonly key: string; readonly input: string } | undefined;
  /** The bytes of its parts. */
  readonly bytes: number;
}

/**
 * Checks an event and gives it an id.
 * @param path what precedes its members in messages: nothing, or `events[3].`
 * @param now milliseconds since 1970
 * @throws Invalid, which names the member
 */
export function newEvent(input: EventInput, origin: Origin, path: string, now: number): NewEvent {
  const { idempotency_key, category } = input;
  if (category === ownCategory && origin.source === null) throw Invalid('category audit is reserved');
  const value = valueOf(input, path, now);
  const contentOwner = category === ownCategory ? null : (value.subject_id ?? value.user_id);
  const actor = partJson({ ip: value.ip, user_agent: value.user_agent, user_id: value.user_id });
  const content = partJson({
    metadata: value.metadata,
    reason: value.reason,
    resource_id: value.resource_id,
    subject_id: value.subject_id,
  });
  const bytes = actor.length + content.length;
  if (bytes > limits.eventBytes)
    throw Invalid(`${path}metadata: the event is larger than ${limits.eventBytes} bytes`);
  return {
    ...origin,
    id: newId('audit'),
    value,
    actor,
    content,
    actorOwner: value.user_id,
    contentOwner,
    repeat:
      idempotency_key === undefined ? undefined : { key: idempotency_key, input: inputText(input, value) },
    bytes,
  };
}

function valueOf(input: EventInput, path: string, now: number): EventValue {
  const { ip = null, metadata } = input;
  if (ip !== null && (isIP(ip) === 0 || ip.includes('%'))) throw Invalid(`${path}ip: is not an IP address`);
  return {
    timestamp: timestampOf(input.timestamp, path, now),
    user_id: input.user_id ?? null,
    actor_type: input.actor_type ?? 'user',
    ip,
    user_agent: input.user_agent ?? null,
    action: input.action,
    resource: input.resource,
    category: input.category,
    resource_id: input.resource_id ?? null,
    subject_id: input.subject_id ?? null,
    outcome: input.outcome ?? 'success',
    severity: input.severity ?? 'info',
    reason: input.reason ?? null,
    metadata: checkedMetadata(metadata ?? {}, path),
  };
}

/** Times are cut to milliseconds before they are hashed. */
function timestampOf(text: string | undefined, path: string, now: number): string {
  if (text === undefined) return momentText(now);
  const { ms } = parseMoment(text, `${path}timestamp`);
  if (ms < limits.earliestMs || ms > now + limits.aheadMs)
    throw Invalid(`${path}timestamp: must be from 2000-01-01 to 5 minutes ahead`);
  return momentText(ms);
}

function checkedMetadata(metadata: object, path: string): object {
  if (isDeeper(metadata, limits.metadataLevels))
    throw Invalid(`${path}metadata: must have at most ${limits.metadataLevels} levels`);
  if (Buffer.byteLength(JSON.stringify(metadata)) > limits.metadataBytes)
    throw Invalid(`${path}metadata: is larger than ${limits.metadataBytes} bytes`);
  return metadata;
}

/** What two requests with one key must have in common: a time that was not sent is not part of it. */
const inputText = ({ timestamp }: EventInput, value: EventValue): string =>
  canonicalJson(timestamp === undefined ? { ...value, timestamp: null } : value);
