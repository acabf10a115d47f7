import { expect, test } from 'vitest';
import { createTransfers, type Transfers } from './transfers.ts';

/** Begins as many transfers as are let, and returns their ends. */
function begunBy(transfers: Transfers, tenant: string): (() => void)[] {
  const ends: (() => void)[] = [];
  try {
    for (;;) ends.push(transfers.begin(tenant));
  } catch {
    return ends;
  }
}

test('a tenant alone may hold four of five places, and others still find one', () => {
  const transfers = createTransfers(256);
  expect(begunBy(transfers, 'acme')).toHaveLength(205);
  expect(begunBy(transfers, 'globex').length).toBeGreaterThan(1);
  for (const tenant of ['a', 'b']) expect(begunBy(transfers, tenant).length).toBeGreaterThan(0);
  expect(transfers.active()).toBeLessThanOrEqual(256);
});

test.each([1, 2, 4])("of %i places all may be one tenant's", (most) => {
  expect(begunBy(createTransfers(most), 'acme')).toHaveLength(most);
});

test('a place is free again when its transfer ends, and only once', () => {
  const transfers = createTransfers(2);
  const [end] = begunBy(transfers, 'acme');
  end!();
  end!();
  expect(transfers.active()).toBe(1);
  expect(begunBy(transfers, 'acme')).toHaveLength(1);
});
