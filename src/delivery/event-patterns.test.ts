import { describe, expect, it } from 'vitest';
import { patternsOf, subscribersTo } from './event-patterns.ts';

it.each([
  ['user.created', ['*', 'user.*', 'user.created']],
  ['auth.signin', ['*', 'auth.*', 'auth.signin']],
  ['auth.role.created', ['*', 'auth.*', 'auth.role.*', 'auth.role.created']],
  ['a.b.c.d', ['*', 'a.*', 'a.b.*', 'a.b.c.*', 'a.b.c.d']],
  ['a', ['*', 'a']],
])('%s is asked for by %j', (type, patterns) => expect(patternsOf(type)).toEqual(patterns));

describe('subscribers', () => {
  const subscriber = (...events: string[]) => ({ events });

  it('get an event once, by whatever patterns they name it', () => {
    const all = subscriber('*');
    const twice = subscriber('invoice.*', 'invoice.paid');
    const other = subscriber('invoices.paid', 'invoice', 'Invoice.paid');
    expect(subscribersTo('invoice.paid', [all, twice, other])).toEqual([all, twice]);
  });

  it('of a group get the events of its groups as well', () => {
    const group = subscriber('invoice.*');
    expect(subscribersTo('invoice.payment.failed', [group])).toEqual([group]);
    expect(subscribersTo('invoice', [group])).toEqual([]);
  });
});
