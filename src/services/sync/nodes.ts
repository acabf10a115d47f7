import type { Nodes } from '../../../generated/sync/server.ts';
import type { Context } from '../../http/context.ts';
import { answerPage, windowOf } from '../../http/lists.ts';
import { NotFound } from '../../lib/errors.ts';
import { datasetOf } from './dataset.ts';
import type { Deps } from './deps.ts';
import { newestNodes, nodeStore } from './nodes.store.ts';

export const nodes = ({ db }: Pick<Deps, 'db'>) =>
  ({
    async list(request, context) {
      const window = windowOf(request, newestNodes);
      return answerPage(context.reply, window, await nodeStore(db.sql).list(datasetOf(context), window));
    },

    async delete({ nodeId }, context) {
      if (!(await nodeStore(db.sql).delete(datasetOf(context), nodeId))) throw NotFound('node');
    },
  }) satisfies Nodes<Context>;
