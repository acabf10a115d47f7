import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkMetadata } from './metadata.ts';

/** An object with `levels` levels, counting itself as the first. */
const nested = (levels: number): Record<string, unknown> =>
  levels === 1 ? {} : { inner: nested(levels - 1) };

describe('metadata', () => {
  it('may have five levels, arrays counted like objects', () => {
    expect(() => checkMetadata(nested(5))).not.toThrow();
    expect(() => checkMetadata(nested(6))).toThrow('metadata: at most 5 levels');
    expect(() => checkMetadata({ a: [[[[]]]] })).not.toThrow();
    expect(() => checkMetadata({ a: [[[[[]]]]] })).toThrow('metadata: at most 5 levels');
  });

  it('may have 8 KiB as it is sent, not as it is counted in characters', () => {
    const ofBytes = (count: number) => ({ text: 'é'.repeat((count - '{"text":""}'.length) / 2) });
    expect(() => checkMetadata(ofBytes(8191))).not.toThrow();
    expect(() => checkMetadata(ofBytes(8193))).toThrow('metadata: at most 8192 bytes');
  });

  it('of any shape within the bounds is taken', () => {
    const values = fc.dictionary(fc.string({ maxLength: 10 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 8 });
    fc.assert(
      fc.property(values, (metadata) => {
        fc.pre(JSON.stringify(metadata).length < 2_000);
        expect(() => checkMetadata(metadata)).not.toThrow();
      }),
    );
  });
});
