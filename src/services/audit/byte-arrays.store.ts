import type { Fragment, Sql } from '../../db/index.ts';

/**
 * Several byte strings as a `bytea[]`; none of them is empty. They are sent as one text of hexadecimal numbers: an array as a parameter
 * takes the driver and the database several times as long, because both look for quotes in it.
 */
export const byteArray = (sql: Sql, values: readonly (Uint8Array | null)[]): Fragment => sql`
  array(select decode(one, 'hex') from unnest(string_to_array(${values.map(hexOf).join(',')}, ',', '')) as one)`;

const hexOf = (bytes: Uint8Array | null): string =>
  bytes === null
    ? ''
    : (Buffer.isBuffer(bytes)
        ? bytes
        : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      ).toString('hex');
