import type { View } from '../../../db/view.ts';
import { Invalid } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { refOf } from '../keys/refs.ts';
import type { KnownStream } from '../streams/known-streams.ts';
import { streamStore } from '../streams/streams.store.ts';
import type { Place } from './events.store.ts';

/** Whom or what events must concern. */
export interface Named {
  readonly user_id?: string | undefined;
  readonly subject_id?: string | undefined;
  readonly resource_id?: string | undefined;
}

/** The most streams in which one request looks for events. */
const mostStreams = 10_000;

/** The streams of a view. @throws Invalid when there are too many */
export async function streamsIn(
  { db, known }: Pick<Deps, 'db' | 'known'>,
  view: View,
): Promise<KnownStream[]> {
  if (view.tenant !== undefined) {
    const stream = await known.find(view.tenant, view.app);
    return stream === undefined ? [] : [stream];
  }
  const rows = await streamStore(db.sql).known(view, mostStreams + 1);
  if (rows.length > mostStreams)
    throw Invalid(`tenant_id: is required, because more than ${mostStreams} tenants have events`);
  return rows.map(known.known);
}

/** A stream as a place where events about these persons and resources are looked for. */
export const placeIn = ({ tenant, app, indexKey }: KnownStream, named: Named): Place => ({
  tenant,
  app,
  actorRef: named.user_id === undefined ? undefined : refOf(indexKey, 'person', named.user_id),
  subjectRef: named.subject_id === undefined ? undefined : refOf(indexKey, 'person', named.subject_id),
  resourceRef: named.resource_id === undefined ? undefined : refOf(indexKey, 'resource', named.resource_id),
});
