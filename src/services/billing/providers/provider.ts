import type { NextAction, PaymentMethodType, ProcessorName } from '../../../../generated/billing/types.ts';

/** A method and its customer as the provider names them. They are kept with a payment, so that a repeat of its charge says the same. */
export interface Source {
  readonly processorId: string;
  /** Null where the provider has no customers of its own. */
  readonly customerId: string | null;
}

/** A payment as the provider is asked for it. */
export interface Charge {
  /** The id of the payment, which is the idempotency key, too: however often it is asked for, money moves once. */
  readonly id: string;
  readonly tenant: string;
  readonly amount: bigint;
  readonly currency: string;
  /** Undefined: the payer still has to choose a method, which the next action of the answer allows. */
  readonly source: Source | undefined;
}

/** A charge that the provider knows under an id of its own. */
export interface StartedCharge extends Charge {
  readonly processorId: string;
}

/** The provider said no, for a reason that the payer can do something about. */
export interface Declined {
  readonly state: 'failed';
  readonly code: string;
  readonly message: string;
}

/** Whether anything happened is not known: the same request may be repeated. */
export interface Unknown {
  readonly state: 'unknown';
  readonly cause?: unknown;
}

/** The provider did not understand the request or the credentials, so that nothing happened. */
export interface Rejected {
  readonly state: 'rejected';
  readonly cause: unknown;
}

export type Failure = Declined | Unknown | Rejected;

export type ChargeResult =
  | {
      readonly state: 'succeeded';
      readonly processorId: string;
      readonly amount?: bigint;
      readonly currency?: string;
    }
  | { readonly state: 'pending'; readonly processorId: string; readonly nextAction: NextAction | null }
  | { readonly state: 'canceled'; readonly processorId: string }
  | (Declined & { readonly processorId?: string })
  | Unknown
  | Rejected;

/** The return of money of a charge. */
export interface RefundOrder {
  /** The id of the refund, which is the idempotency key, too. */
  readonly id: string;
  readonly paymentId: string;
  readonly tenant: string;
  readonly processorId: string;
  readonly amount: bigint;
  /** What the charge was paid with, if it was known when it began. */
  readonly source: Source | undefined;
}

export type RefundResult =
  | {
      readonly state: 'succeeded';
      readonly processorId: string;
      /** What was refunded of the charge in all, if the provider says so. */
      readonly total?: bigint;
    }
  | Failure;

/** What has become of a refund that was asked for; `absent` when the provider has none with its id. */
export type FoundRefund = RefundResult | { readonly state: 'absent' };

/** A token that becomes a payment method. */
export interface Attachment {
  /** The id of the payment method, from which idempotency keys are made. */
  readonly id: string;
  readonly token: string;
  readonly tenant: string;
  /** The customer, and its id at the provider if it has one already. */
  readonly customer: { readonly id: string; readonly processorId: string | undefined };
}

/** What the provider says about a method, so that people recognise it. */
export interface AttachedMethod extends Source {
  readonly type: PaymentMethodType;
  readonly last4: string | null;
  readonly brand: string | null;
  readonly expiryMonth: number | null;
  readonly expiryYear: number | null;
}

export type AttachResult = { readonly state: 'attached'; readonly method: AttachedMethod } | Failure;

/**
 * Who moves the money. No method throws for what the provider or the network does: the result says it. None runs within a transaction,
 * since an answer may take half a minute.
 */
export interface Provider {
  readonly name: ProcessorName;
  charge(charge: Charge): Promise<ChargeResult>;
  /** What has become of a charge. */
  lookup(charge: StartedCharge): Promise<ChargeResult>;
  /** Gives up a charge; one that has succeeded meanwhile stays so. */
  cancel(charge: StartedCharge): Promise<ChargeResult>;
  refund(order: RefundOrder): Promise<RefundResult>;
  /** Looks for a refund that may have been made although nobody answered. Keys are forgotten after a while; what was made is not. */
  findRefund(order: RefundOrder): Promise<FoundRefund>;
  attach(attachment: Attachment): Promise<AttachResult>;
  /** Forgets a method. The result is only good for the log. */
  detach(source: Source): Promise<{ readonly state: 'detached' } | Failure>;
}
