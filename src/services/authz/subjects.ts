import type { Subjects } from '../../../generated/authz/server.ts';
import type { Context } from '../../http/context.ts';
import { answerPage, windowOf } from '../../http/lists.ts';
import type { Deps } from './deps.ts';
import { checkNeeds } from './records.ts';
import { bySlug, subjectStore } from './subjects.store.ts';

/** Subjects: users, services, or any other party that acts. */
export const subjects = ({ db }: Deps) =>
  ({
    async listRoles({ subjectKind, subjectId, limit, offset, cursor, ...filter }, context) {
      checkNeeds(filter, 'resource_id', 'resource_type');
      const window = windowOf({ limit, offset, cursor }, bySlug);
      const found = await subjectStore(db.sql).listRoles(
        context.tenant,
        subjectKind,
        subjectId,
        filter,
        window,
      );
      return answerPage(context.reply, window, found).map(({ assignment: _, ...role }) => role);
    },
  }) satisfies Subjects<Context>;
