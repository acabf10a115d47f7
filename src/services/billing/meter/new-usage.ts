import type { UsageEventCreate } from '../../../../generated/billing/types.ts';
import { DomainError, Invalid } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { momentText } from '../../../lib/moments.ts';
import { checkMetadata } from '../metadata.ts';
import { quantityOf } from '../money/quantities.ts';
import { judge, type Judgement, type JudgementTerms } from './judgement.ts';

/** A usage event that is taken, as it will be stored. */
export interface NewUsage {
  readonly id: string;
  readonly tenant: string;
  readonly app: string;
  readonly featureKey: string;
  /** In its shortest form. */
  readonly quantity: string;
  readonly idempotencyKey: string | null;
  /** As JSON. */
  readonly metadata: string;
  readonly happenedAt: string;
  /** The time that was sent; null when the server's was taken. */
  readonly sentTimestamp: string | null;
  readonly acceptedAt: string;
  /** What it weighs while it waits to be stored. */
  readonly bytes: number;
}

/** An event as it will be stored, or why it is refused. */
export type Draft =
  { readonly verdict: 'taken'; readonly event: NewUsage } | Extract<Judgement, { verdict: 'refused' }>;

/** Who sends an event, and by which terms it is taken. */
export interface Origin extends JudgementTerms {
  readonly tenant: string;
  readonly app: string;
}

/** About what an event takes in memory besides its metadata. */
const bytesOfRest = 512;

/**
 * @param path where the event is in the request, such as `events[3].`
 * @throws Invalid for metadata out of the bounds that OpenAPI cannot express
 */
export function draftOf(sent: UsageEventCreate, { tenant, app, ...terms }: Origin, path = ''): Draft {
  const metadata = metadataText(sent.metadata, path);
  const judgement = judge(sent, terms);
  if (judgement.verdict === 'refused') return judgement;
  const event: NewUsage = {
    id: newId('uevt', terms.now),
    tenant: sent.tenant_id ?? tenant,
    app,
    featureKey: sent.feature_key,
    quantity: quantityOf(sent.quantity).toFixed(),
    idempotencyKey: sent.idempotency_key,
    metadata,
    happenedAt: momentText(judgement.timestamp),
    sentTimestamp: sent.timestamp ?? null,
    acceptedAt: momentText(terms.now),
    bytes: bytesOfRest + Buffer.byteLength(metadata),
  };
  return { verdict: 'taken', event };
}

function metadataText(metadata: UsageEventCreate['metadata'], path: string): string {
  try {
    checkMetadata(metadata);
  } catch (error) {
    throw path !== '' && error instanceof DomainError ? Invalid(`${path}${error.message}`) : error;
  }
  return JSON.stringify(metadata);
}
