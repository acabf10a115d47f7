import type { Database } from '../../../db/index.ts';
import { DomainError } from '../../../lib/errors.ts';
import { endpointStore, type Reach } from '../endpoints/endpoints.store.ts';

/** No endpoint has this id. */
const nobody = '';

/**
 * The id of the endpoint that a filter names. An id stands for itself, because records of a deleted endpoint can still be found by it;
 * a `uid` that no endpoint has finds nothing.
 */
export async function filteredEndpoint(
  db: Pick<Database, 'sql'>,
  reach: Reach,
  ref: string | undefined,
): Promise<string | undefined> {
  if (ref === undefined || ref.startsWith('ep_')) return ref;
  try {
    return (await endpointStore(db.sql).owner(reach, ref)).id;
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'notFound') return nobody;
    throw error;
  }
}
