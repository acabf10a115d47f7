import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatDuration } from '../../lib/durations.ts';
import { storedTerms } from './policy-terms.ts';

const hours = (min: number, max: number) => fc.integer({ min, max }).map((count) => `${count}h`);
const spelling = fc.constantFrom('1h', '60m', '3600s', '0h60m', '1h0m0s');
const terms = fc.record(
  {
    rate_window: fc.oneof(spelling, fc.integer({ min: 1_000, max: 2_592_000_000 }).map(formatDuration)),
    grace_period: fc.oneof(spelling, hours(0, 720)),
    max_key_age: fc.oneof(spelling, hours(1, 87_600), fc.constant(null)),
    allowed_ips: fc.array(
      fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('10.1.2.3/8', '::ffff:10.0.0.1/104', '2001:DB8::1/33')),
    ),
    allowed_origins: fc.array(
      fc.oneof(
        fc.constantFrom('*', 'HTTPS://Example.com:443', 'https://*.bücher.example'),
        fc.domain().map((host) => `http://${host}:80`),
      ),
    ),
    allowed_scopes: fc.array(fc.constantFrom('b', 'a', 'a:*', '*', 'a:b:c')),
  },
  { requiredKeys: [] },
);

it('what is stored is stored the same when it is written back', () => {
  fc.assert(
    fc.property(terms, (given) => {
      const stored = storedTerms(given);
      expect(storedTerms(stored)).toEqual(stored);
      expect(Object.keys(stored)).toEqual(Object.keys(given));
    }),
  );
});

it.each([
  ['rate_window', '90m', '1h30m'],
  ['grace_period', '0s', '0s'],
  ['grace_period', '0', '0s'],
  ['max_key_age', '5400000ms', null],
  ['max_key_age', '7200s', '2h'],
])('%s %s is stored as %s', (name, text, stored) => {
  if (stored === null) expect(() => storedTerms({ [name]: text })).toThrow('must be whole hours');
  else expect(storedTerms({ [name]: text })).toEqual({ [name]: stored });
});
