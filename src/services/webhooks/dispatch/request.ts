import type { PayloadFormat } from '../../../../generated/webhooks/types.ts';
import { signatureHeaders } from '../../../lib/standard-webhooks.ts';

/** An event as a receiver gets it. `data` is the JSON text that was accepted. */
export interface SentEvent {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly data: string;
}

export interface SignedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An attempt that is to be sent. */
export interface Sending {
  readonly event: SentEvent;
  readonly deliveryId: string;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  readonly format: PayloadFormat;
  /** The endpoint's own headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The current secret first, then the earlier ones that still sign. */
  readonly secrets: readonly string[];
  /** Unix time of this attempt. */
  readonly seconds: number;
}

/** The request of an attempt. The body is made of the text of the data, so that its bytes are those that were accepted. */
export function requestOf(sending: Sending): SignedRequest {
  const { event, format, deliveryId, attempt, headers, secrets, seconds } = sending;
  const body = bodyOf(event, format);
  return {
    headers: {
      ...headers,
      'content-type': 'application/json',
      'user-agent': 'Plinth-Webhooks/1.0',
      ...signatureHeaders(secrets, { id: event.id, seconds, body }),
      'plinth-event-type': event.type,
      'plinth-delivery-id': deliveryId,
      'plinth-attempt': String(attempt),
    },
    body,
  };
}

/** The data alone, or in an envelope with the type and the time of the event. */
export const bodyOf = ({ type, created_at, data }: SentEvent, format: PayloadFormat): string =>
  format === 'data' ? data : `{"type":"${type}","timestamp":"${created_at}","data":${data}}`;
