/** Which operations have which of the common failures, and what provokes them. */
import type { Operation } from '../generated/operations.ts';
import { nameOf, parametersOf, resolve } from './contract.ts';
import { servedBy } from './targets.ts';

/** The operations that the server answers. */
export const operations = servedBy('server');
/** Returns every operation that documents the status, by name. */
export const documenting = (status: number, where: (operation: Operation) => boolean = () => true) =>
  operations
    .filter((operation) => documents(operation, status) && where(operation))
    .map((operation) => [nameOf(operation), operation] as const);

/** Whether an operation documents the status. */
export const documents = ({ responses }: Operation, status: number): boolean =>
  responses.some((response) => response.status === status);

/** Whether an operation requires credentials. Public operations check the proof in the body in their own ways. */
export const isProtected = ({ access }: Operation): boolean => access !== 'public';
/** Whether credentials matter to an operation, even if only for its limits. */
export const takesCredentials = (operation: Operation): boolean =>
  isProtected(operation) || operation.optionalCredentials === true;

/** What of a page is no text. */
export const markup = /<style[^>]*>.*?<\/style>|<[^>]*>/gs;

/** More requests than any limit allows. */
export const highestLimit = 1_300;
/** How many of them are sent together. */
export const atOnce = 20;

/** Data read a moment ago is answered from memory while the database reports no change. */
export const remembered = /^auth\.(Discovery|OAuth)_/;

/** Answers that are given for as long as the database is unreachable. */
export const kept = /^auth\.Discovery_jwks$/;

/** Answers that are part of the release and read no tables. */
export const builtIn = /^safety\.Detectors_list$/;

/** A stream reads its tables only when it resumes from an event, whose id is a number, or in sync a clock reading. */
export const resumed = ({ service }: Operation) => ({
  parameters: { 'Last-Event-ID': service === 'sync' ? '01a1f859d864-0003-phone-1' : '1' },
});

/** Returns the path parameters that are ids, recognised by the common form of ids. */
export const idsOf = (operation: Operation): string[] =>
  parametersOf(operation)
    .filter(({ in: place, schema }) => {
      const pattern = String(resolve(operation.service, schema)['pattern']);
      // Where a tenant's own name may stand in place of an id, an id of another kind is such a name.
      return place === 'path' && pattern.includes('_[0-7][') && !new RegExp(pattern, 'u').test(wrongId);
    })
    .map(({ name }) => name);

/** An id of a kind that no operation takes. */
export const wrongId = 'wrong_01m7w4n5e0f7drekxj50y51wjg';
