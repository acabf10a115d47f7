/** Where a request contains texts that may be any string (`@anyText`). */
import type { Schema } from './contract.ts';
import { placesOf, type Places } from './places.ts';

/** Returns the places of such texts in a request body, or null when it has none. */
export const anyTextsOf = (schemas: Record<string, Schema>, schema: Schema): Places | null =>
  placesOf(schemas, schema, (target) => target['x-any-text'] === true);
