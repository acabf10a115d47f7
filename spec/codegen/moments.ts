/** Where a request contains times (`format: date-time`). */
import type { Schema } from './contract.ts';
import { placesOf, type Places } from './places.ts';

/** Returns the times in a request body or a parameter, or null when it has none. */
export const momentsOf = (schemas: Record<string, Schema>, schema: Schema): Places | null =>
  placesOf(schemas, schema, ({ format }) => format === 'date-time');
