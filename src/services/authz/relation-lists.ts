import type { Relations } from '../../../generated/authz/server.ts';
import type { Relation, RelationKey } from '../../../generated/authz/types.ts';
import type { Sql } from '../../db/index.ts';
import type { Context } from '../../http/context.ts';
import { decodeCursor, encodeCursor } from '../../lib/cursors.ts';
import { Invalid } from '../../lib/errors.ts';
import { refuseBoth } from './lists.ts';
import { checkNeeds } from './records.ts';
import { type RelationFilter, relationListStore } from './relation-lists.store.ts';
import { keyOf } from './tuple-rules.ts';

type Request = Parameters<Relations['list']>[0];

/** Characters of a cursor that the contract allows. */
const CURSOR = 1024;

/** The one list that is not newest first: tuples come in the order of their keys, which every filter can use. */
export async function listRelations(sql: Sql, request: Request, context: Context): Promise<Relation[]> {
  const { limit, offset, cursor, ...filter } = request;
  refuseBoth(request);
  checkFilter(filter);
  const store = relationListStore(sql);
  const after = cursor === undefined ? null : await placeOf(sql, context.tenant, cursor);
  const found = await store.list(context.tenant, filter, { limit, offset, after });
  const last =
    found.length > limit ? found[limit - 1] : await store.resumeAfter(context.tenant, filter, after);
  if (last) context.reply.header('X-Next-Cursor', cursorOf(last));
  return found.slice(0, limit);
}

function checkFilter(filter: RelationFilter): void {
  checkNeeds(filter, 'object_id', 'object_type');
  checkNeeds(filter, 'relation', 'object_type');
  checkNeeds(filter, 'subject_id', 'subject_type');
  checkNeeds(filter, 'subject_relation', 'subject_id');
}

/** The key of the last tuple, so that its deletion does not matter; its id where ids are too long for a cursor. */
function cursorOf(last: RelationKey & { id: string }): string {
  const cursor = encodeCursor({ id: '', ...keyOf(last) });
  return cursor.length <= CURSOR ? cursor : encodeCursor({ ...nowhere, id: last.id });
}

async function placeOf(sql: Sql, tenant: string, cursor: string): Promise<RelationKey> {
  const { id, ...key } = decodeCursor(cursor, shape);
  if (id === '') return key;
  const found = await relationListStore(sql).findKey(tenant, id);
  if (!found) throw Invalid('cursor: its tuple was deleted, begin again');
  return found;
}

const nowhere = {
  object_type: '',
  object_id: '',
  relation: '',
  subject_type: '',
  subject_id: '',
  subject_relation: '',
};

const shape = {
  id: 'string',
  object_type: 'string',
  object_id: 'string',
  relation: 'string',
  subject_type: 'string',
  subject_id: 'string',
  subject_relation: 'string',
} as const;
