import { describe, expect, it } from 'vitest';
import type { SubscriptionStatus } from '../../../../generated/billing/types.ts';
import { isEntitling, isLive, nextStatus, type SubscriptionTrigger } from './states.ts';

const statuses: SubscriptionStatus[] = ['trialing', 'active', 'past_due', 'paused', 'canceled', 'expired'];

describe('the status of a subscription', () => {
  it.each<[SubscriptionTrigger, (SubscriptionStatus | undefined)[]]>([
    ['trialEnds', ['active', undefined, undefined, undefined]],
    ['trialEndsUnpayable', ['expired', undefined, undefined, undefined]],
    ['paymentFails', [undefined, 'past_due', 'past_due', undefined]],
    ['invoiceIsOverdue', [undefined, 'past_due', 'past_due', undefined]],
    ['debtsAreCleared', [undefined, undefined, 'active', undefined]],
    ['attemptsAreExhausted', [undefined, undefined, 'expired', undefined]],
    ['pause', [undefined, 'paused', undefined, undefined]],
    ['resume', [undefined, undefined, undefined, 'active']],
    ['cancelAtPeriodEnd', ['trialing', 'active', 'past_due', 'paused']],
    ['uncancel', ['trialing', 'active', 'past_due', 'paused']],
    ['cancel', ['canceled', 'canceled', 'canceled', 'canceled']],
    ['changePlan', ['trialing', 'active', undefined, undefined]],
  ])('after %s', (trigger, after) => {
    // Nothing brings a subscription back that has ended.
    expect(statuses.map((status) => nextStatus(status, trigger))).toEqual([...after, undefined, undefined]);
  });

  it('says whether it is live and whether it entitles', () => {
    expect(statuses.map(isLive)).toEqual([true, true, true, true, false, false]);
    expect(statuses.map(isEntitling)).toEqual([true, true, true, false, false, false]);
  });
});
