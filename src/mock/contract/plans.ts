/** What operations do to records. */
import type { Schema } from './document.ts';
import type { Values } from './values.ts';

/** A kind of record: a named schema whose records are listed or created, and named by paths. */
export interface Resource {
  readonly name: string;
  readonly members: Readonly<Record<string, Schema>>;
  readonly example: Values;
}

/** A path that ends in the name of one record. */
export interface Item {
  readonly path: string;
  readonly parameter: string;
  /** The parameter's value in the examples. */
  readonly example: string;
  readonly resource: Resource;
  /** Members whose value the parameter may be. */
  readonly keys: readonly string[];
}

/** What an operation does to records. */
export type Deed =
  | { readonly does: 'create'; readonly resource: Resource; readonly path: string }
  /** Puts an existing record into a collection below another record. The member of the body names the record. */
  | { readonly does: 'attach'; readonly resource: Resource; readonly path: string; readonly member: string }
  | ({ readonly does: 'list'; readonly path: string } & Listing)
  /** A `PUT` creates a missing record if it is the only way to create one, or documents that it creates one. */
  | { readonly does: 'get' | 'update' | 'put' | 'remove'; readonly item: Item }
  /** Removes a record from a collection below another record. The record itself lives elsewhere. */
  | { readonly does: 'detach'; readonly item: Item }
  /** Removes the records listed in the member `names` of the body, and answers them in the member `told`. */
  | { readonly does: 'removeAll'; readonly item: Item; readonly names: string; readonly told: string }
  /** Any other operation below an item, and the collection there to which its answer adds a record. */
  | { readonly does: 'act'; readonly makes?: Collection | undefined };

/** The records of a list. */
export interface Listing {
  readonly resource: Resource;
  /** The member of an envelope that has the records. */
  readonly member: string | undefined;
  /** Members of a record that the list shows. Without it, the list shows all. */
  readonly shown?: readonly string[];
}

export interface Collection {
  readonly resource: Resource;
  readonly path: string;
}

export interface Plan {
  readonly deed: Deed;
  /** The items on the path, outermost first. */
  readonly within: readonly Item[];
}

/** Returns the path without its last segment. */
export const collectionOf = (path: string) => path.slice(0, path.lastIndexOf('/'));
