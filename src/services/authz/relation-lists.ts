import type { Relations } from '../../../generated/authz/server.ts';
import type { Relation, RelationKey } from '../../../generated/authz/types.ts';
import type { Sql } from '../../db/index.ts';
import type { Context } from '../../http/context.ts';
import { decodeCursor, encodeCursor, longestCursor } from '../../lib/cursors.ts';
import { Invalid } from '../../lib/errors.ts';
import { checkNeeds } from './records.ts';
import { byKey, type RelationFilter, relationListStore } from './relation-lists.store.ts';
import { keyOf } from './tuple-rules.ts';

type Request = Parameters<Relations['list']>[0];

/** The only list that is not newest first: tuples are ordered by key, which every filter can use. */
export async function listRelations(sql: Sql, request: Request, context: Context): Promise<Relation[]> {
  const { limit, offset, cursor, ...filter } = request;
  checkFilter(filter);
  const store = relationListStore(sql);
  const after = cursor === undefined ? null : await placeOf(sql, context.tenant, cursor);
  const window = { order: byKey, limit, offset, after };
  const found = await store.list(context.tenant, filter, window);
  const last =
    found.length > limit ? found[limit - 1] : await store.lastExamined(context.tenant, filter, window);
  if (last) context.reply.header('X-Next-Cursor', cursorOf(last));
  return found.slice(0, limit);
}

function checkFilter(filter: RelationFilter): void {
  checkNeeds(filter, 'object_id', 'object_type');
  checkNeeds(filter, 'relation', 'object_type');
  checkNeeds(filter, 'subject_id', 'subject_type');
  checkNeeds(filter, 'subject_relation', 'subject_id');
}

/**
 * Encodes the key of the last tuple, so that its deletion does not matter. When its ids are too long for a cursor, encodes its
 * id instead.
 */
function cursorOf(last: RelationKey & { id: string }): string {
  const cursor = encodeCursor({ id: '', ...keyOf(last) });
  return cursor.length <= longestCursor ? cursor : encodeCursor({ ...nowhere, id: last.id });
}

async function placeOf(sql: Sql, tenant: string, cursor: string): Promise<RelationKey> {
  const { id, ...key } = decodeCursor(cursor, shape);
  if (id === '') return key;
  const found = await relationListStore(sql).findKey(tenant, id);
  if (!found) throw Invalid('cursor: its tuple was deleted, start again');
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
