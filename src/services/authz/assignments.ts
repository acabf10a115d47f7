import type { Assignments } from '../../../generated/authz/server.ts';
import type { Context } from '../../http/context.ts';
import { answerPage, windowOf } from '../../http/lists.ts';
import { Conflict, Invalid } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { type AssignmentFilter, assignmentStore } from './assignments.store.ts';
import type { Deps } from './deps.ts';
import { newestIdFirst } from './lists.ts';
import { checkEntityId, checkFuture, checkNeeds, stamp } from './records.ts';
import { roleStore } from './roles.store.ts';

/** Assignments: which subject holds which role, and in which scope. */
export const assignments = ({ db, write }: Deps) =>
  ({
    async create({ body }, context) {
      checkEntityId(body.subject_id, 'subject_id');
      checkEntityId(body.resource_id, 'resource_id');
      if (body.resource_id !== null && body.resource_type === null)
        throw Invalid('resource_type: required with resource_id');
      return write(context, async (tx) => {
        checkFuture(body.expires_at, tx.before.now);
        await roleStore(tx.sql).get(tx.tenant, body.role_id);
        const given = { ...body, ...stamp(tx), id: newId('asgn'), created_by: tx.actor };
        const stored = await assignmentStore(tx.sql).insert(given);
        if (!stored) throw Conflict('assignment already exists');
        const { replaced, ...assignment } = stored;
        tx.count('assignments', replaced ? 0 : 1);
        tx.change('assignment', 'put', [assignment]);
        tx.emit('authz.assignment.created', assignment.id, assignment);
        return assignment;
      });
    },

    async list({ limit, offset, cursor, ...filter }, context) {
      checkFilter(filter);
      const store = assignmentStore(db.sql);
      const window = windowOf({ limit, offset, cursor }, newestIdFirst);
      const found = await store.list(context.tenant, filter, window);
      const resumed =
        found.length > limit ? undefined : await store.lastExamined(context.tenant, filter, window);
      return answerPage(context.reply, window, found, resumed);
    },

    get: ({ assignmentId }, context) => assignmentStore(db.sql).get(context.tenant, assignmentId),

    delete: ({ assignmentId }, context) =>
      write(context, async (tx) => {
        const store = assignmentStore(tx.sql);
        const assignment = await store.get(tx.tenant, assignmentId);
        await store.delete(tx.tenant, assignmentId);
        const { id, subject_kind, subject_id } = assignment;
        tx.count('assignments', -1);
        tx.change('assignment', 'del', [{ id, subject_kind, subject_id }]);
        tx.emit('authz.assignment.deleted', id, assignment);
      }),
  }) satisfies Assignments<Context>;

function checkFilter(filter: AssignmentFilter): void {
  checkNeeds(filter, 'subject_id', 'subject_kind');
  checkNeeds(filter, 'resource_id', 'resource_type');
}
