import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';
import { billingEvent, cardEvent, notifications } from './payers.ts';

const tooLarge = 'x'.repeat(1024 * 1024 + 1);

contract('Notifications', (api) => {
  const anybody = () => api.tenant().anonymous();

  describe('cardProvider', () => {
    it('200 for what is signed, also when it concerns nothing', async () => {
      const answer = await notifications(anybody()).cardProvider(
        cardEvent('customer.created', { id: 'cus_1' }),
      );
      expect(answer).toEqual({ received: true, handled: api.target === 'mock' });
    });

    it('400 for what is signed and is no event', () =>
      anybody().refused(400, 'body: not an event', ({ billing }) =>
        billing.notifications.cardProvider(cardEvent('', {})),
      ));

    it('401 without a signature', () =>
      anybody().refused(401, 'signature is not valid', ({ billing }) =>
        billing.notifications.cardProvider({ body: new Blob(['{}']) }),
      ));

    it('413 for more than 1 MiB', () =>
      anybody().refused(413, /^body: /, ({ billing }) =>
        billing.notifications.cardProvider({ body: new Blob([tooLarge]) }),
      ));

    it('415 for what is compressed, since it is signed as it is', () =>
      anybody().refused(415, /^content-encoding: /, ({ billing }) =>
        billing.notifications.cardProvider({
          ...cardEvent('customer.created', { id: 'cus_1' }),
          'Content-Encoding': 'gzip',
        }),
      ));
  });

  describe('billingProvider', () => {
    it('200 for what is signed, also when it concerns nothing', async () => {
      const event = billingEvent('customer.created', { id: 'ctm_1' });
      const answer = await notifications(anybody()).billingProvider(event);
      expect(answer).toEqual({ received: true, handled: api.target === 'mock' });
    });

    it('400 for what is signed and is no event', () =>
      anybody().refused(400, 'body: not an event', ({ billing }) =>
        billing.notifications.billingProvider(billingEvent('', {})),
      ));

    it('401 without a signature', () =>
      anybody().refused(401, 'signature is not valid', ({ billing }) =>
        billing.notifications.billingProvider({ body: new Blob(['{}']) }),
      ));

    it('413 for more than 1 MiB', () =>
      anybody().refused(413, /^body: /, ({ billing }) =>
        billing.notifications.billingProvider({ body: new Blob([tooLarge]) }),
      ));

    it('415 for what is compressed, since it is signed as it is', () =>
      anybody().refused(415, /^content-encoding: /, ({ billing }) =>
        billing.notifications.billingProvider({
          ...billingEvent('customer.created', { id: 'ctm_1' }),
          'Content-Encoding': 'gzip',
        }),
      ));
  });
});
