/** Where a request contains numbers that are kept exactly (`@exact`). */
import type { Schema } from './contract.ts';
import { placesOf, type Places } from './places.ts';

/** Returns the places of such numbers in a request body, or null when it has none. */
export const exactNumbersOf = (schemas: Record<string, Schema>, schema: Schema): Places | null =>
  placesOf(schemas, schema, (target) => target['x-exact'] === true);
