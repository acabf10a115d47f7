import type { Subjects } from '../../../generated/authz/server.ts';
import type { Context } from '../../http/context.ts';
import { decodeCursor, page } from '../../lib/cursors.ts';
import type { Deps } from './deps.ts';
import { type PageRequest, refuseBoth } from './lists.ts';
import { checkNeeds } from './records.ts';
import { type SlugWindow, subjectStore } from './subjects.store.ts';

/** Subjects: users, services, or whatever else acts. */
export const subjects = ({ db }: Deps) =>
  ({
    async listRoles({ subjectKind, subjectId, limit, offset, cursor, ...filter }, context) {
      checkNeeds(filter, 'resource_id', 'resource_type');
      const window = slugWindow({ limit, offset, cursor });
      const found = await subjectStore(db.sql).listRoles(
        context.tenant,
        subjectKind,
        subjectId,
        filter,
        window,
      );
      const { items, next } = page(found, limit, ({ slug, via, assignment_id }) => ({
        ...{ slug, via },
        assignment: assignment_id ?? '',
      }));
      if (next !== null) context.reply.header('X-Next-Cursor', next);
      return items;
    },
  }) satisfies Subjects<Context>;

function slugWindow(request: PageRequest): SlugWindow {
  refuseBoth(request);
  const shape = { slug: 'string', via: 'string', assignment: 'string' } as const;
  const after = request.cursor === undefined ? null : decodeCursor(request.cursor, shape);
  return { limit: request.limit, offset: request.offset, after };
}
