import type { Assignments } from '../../../generated/authz/server.ts';
import type { Context } from '../../http/context.ts';
import { Conflict, Invalid } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { type AssignmentFilter, assignmentStore } from './assignments.store.ts';
import type { Deps } from './deps.ts';
import { answerPage, idWindow, resumeAt } from './lists.ts';
import { checkEntityId, checkNeeds, futureTime, stamp } from './records.ts';
import { roleStore } from './roles.store.ts';

/** Assignments: which subject has which role, and where. */
export const assignments = ({ db, write }: Deps) =>
  ({
    async create({ body }, context) {
      checkEntityId(body.subject_id, 'subject_id');
      checkEntityId(body.resource_id, 'resource_id');
      if (body.resource_id !== null && body.resource_type === null)
        throw Invalid('resource_type: required with resource_id');
      return write(context, async (tx) => {
        const expires_at = futureTime(body.expires_at, tx.before.now);
        await roleStore(tx.sql).get(tx.tenant, body.role_id);
        const given = { ...body, ...stamp(tx), id: newId('asgn'), expires_at, created_by: tx.actor };
        const stored = await assignmentStore(tx.sql).insert(given);
        if (!stored) throw Conflict('assignment already exists');
        const { replaced, ...assignment } = stored;
        tx.count('assignments', replaced ? 0 : 1);
        tx.change('assignment', 'put', [assignment]);
        tx.emit('assignment.created', assignment.id, assignment);
        return assignment;
      });
    },

    async list({ limit, offset, cursor, ...filter }, context) {
      checkFilter(filter);
      const store = assignmentStore(db.sql);
      const window = { ...idWindow({ limit, offset, cursor }), ...filter };
      const found = await store.list(context.tenant, window);
      if (found.length <= limit) resumeAt(context, await store.resumeBefore(context.tenant, window));
      return answerPage(context, found, limit);
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
        tx.emit('assignment.deleted', id, assignment);
      }),
  }) satisfies Assignments<Context>;

function checkFilter(filter: AssignmentFilter): void {
  checkNeeds(filter, 'subject_id', 'subject_kind');
  checkNeeds(filter, 'resource_id', 'resource_type');
}
