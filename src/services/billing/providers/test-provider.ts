import type { Charge, ChargeResult, Provider } from './provider.ts';

/** What the end of a token makes happen. Every other token is a card that pays. */
const declines = {
  chargeDeclined: { state: 'failed', code: 'card_declined', message: 'the card was declined' },
  insufficientFunds: {
    state: 'failed',
    code: 'insufficient_funds',
    message: 'the card has insufficient funds',
  },
} as const;

const processorIdOf = (id: string) => `test_${id}`;

/** The payment that a processor id of this provider stands for; undefined for the ids of others. */
export const testedPayment = (processorId: string): string | undefined =>
  processorId.startsWith('test_') ? processorId.slice('test_'.length) : undefined;

/**
 * Moves no money and works offline. It remembers nothing: what becomes of a charge follows from the token of its method, so that a
 * repeat gives the same answer in any process.
 */
export const testProvider: Provider = {
  name: 'test',
  charge: async (charge) => outcomeOf(charge),
  lookup: async (charge) => outcomeOf(charge),

  async cancel(charge) {
    const outcome = outcomeOf(charge);
    return outcome.state === 'succeeded' ? outcome : { state: 'canceled', processorId: charge.processorId };
  },

  refund: async ({ id, source }) =>
    source?.processorId.endsWith('refundTimeout') === true
      ? { state: 'unknown' }
      : { state: 'succeeded', processorId: processorIdOf(id) },

  findRefund: async () => ({ state: 'absent' }),

  async attach({ token }) {
    if (token.endsWith('attachTimeout')) return { state: 'unknown' };
    if (token.endsWith('expiredCard'))
      return { state: 'failed', code: 'expired_card', message: 'the card has expired' };
    return {
      state: 'attached',
      method: {
        ...{ processorId: token, customerId: null },
        ...{ type: 'card', brand: 'visa', last4: '4242', expiryMonth: 12, expiryYear: 2099 },
      },
    };
  },

  detach: async () => ({ state: 'detached' }),
};

function outcomeOf({ id, source }: Charge): ChargeResult {
  const processorId = processorIdOf(id);
  if (source === undefined)
    return {
      state: 'pending',
      processorId,
      nextAction: { type: 'client_secret', value: `${processorId}_secret` },
    };
  const token = source.processorId;
  if (token.endsWith('chargeTimeout')) return { state: 'unknown' };
  if (token.endsWith('chargePending')) return { state: 'pending', processorId, nextAction: null };
  const decline = Object.entries(declines).find(([ending]) => token.endsWith(ending))?.[1];
  return decline === undefined ? { state: 'succeeded', processorId } : { ...decline, processorId };
}
