import type { Reading } from '../readings.ts';

export const commerce: readonly Reading[] = [
  {
    service: 'billing',
    document: 'commerce',
    letter: 'A',
    base: '/billing',
    objects: ['billing_address'],
    members: {
      pricing: 'pricing',
      features: 'feature',
      tiers: 'pricing tier',
      line_items: 'line item',
      subtotal: 'money',
      tax_amount: 'money',
      discount_amount: 'money',
      unit_amount: 'money',
    },
    answers: [
      [/ \/plans/, 'plan'],
      [/ \/subscriptions/, 'subscription'],
      [/^GET \/meter\/events/, 'usage event'],
      [/ \/invoices/, 'invoice'],
      [/ \/payments/, 'payment'],
      [/ \/payment-methods/, 'payment method'],
      [/ \/customers/, 'customer'],
    ],
    requests: {
      'POST /meter/events/batch':
        '`events` (array of `feature_key`, `quantity`, `idempotency_key`, `metadata`)',
      'GET /customers': 'query `limit`, `offset`',
      'PUT /customers/{id}': '`name`, `email`, `currency`, `billing_address`, `tax_ids`, `metadata`',
    },
  },
  {
    service: 'webhooks',
    document: 'commerce',
    letter: 'B',
    base: '',
    // A repeated idempotency key gives a 200, according to the chapters on events and errors.
    responses: { 'POST /events': '201; 200' },
  },
  {
    service: 'jobs',
    document: 'commerce',
    letter: 'C',
    base: '/v1',
    answers: [
      [/ \/jobs/, 'job'],
      [/ \/workflows\/runs/, 'workflow run'],
      [/^GET \/dlq/, 'dead-letter entry'],
      [/ \/crons/, 'cron entry'],
      [/^POST \/dlq/, 'job'],
    ],
  },
  {
    service: 'audit',
    document: 'commerce',
    letter: 'D',
    base: '/v1',
    members: { events: 'audit event' },
    synonyms: { event: 'audit event', buckets: 'aggregate input result', policies: 'retention policy' },
    answers: [[/ \/erasures/, 'erasure result']],
  },
];
