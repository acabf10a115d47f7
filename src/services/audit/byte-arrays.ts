import type { Sql } from '../../db/index.ts';

const bytea = 17;

/** A parameter of the type `bytea[]`. Left to itself, the driver takes an array that begins with null for one of texts. */
export const byteArray = (sql: Sql, values: readonly (Uint8Array | null)[]) =>
  sql.array(
    values.map((value) => value && Buffer.from(value.buffer, value.byteOffset, value.byteLength)),
    bytea,
  );
