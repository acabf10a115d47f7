import type { Streams } from '../../../../generated/audit/server.ts';
import type { Database } from '../../../db/index.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { viewOf } from '../../../http/view.ts';
import { Invalid } from '../../../lib/errors.ts';
import { newestById } from '../newest-by-id.ts';
import { checkReader } from '../reader.ts';
import { streamStore } from '../streams/streams.store.ts';
import { streamLines } from './stream-lines.ts';

/** Streams: chains of events, one for each tenant and app. */
export const streams = ({ db }: { readonly db: Database }) =>
  ({
    async list({ tenant_id, ...request }, context) {
      const window = windowOf(request, newestById);
      return answerPage(
        context.reply,
        window,
        await streamStore(db.sql).list(viewOf(context, tenant_id), window),
      );
    },

    get: ({ id }, context) => streamStore(db.sql).get(viewOf(context), id),

    async export({ id, from_seq, to_seq }, context) {
      checkReader(context);
      if (to_seq !== 0 && from_seq > to_seq) throw Invalid('from_seq is after to_seq');
      const stream = await streamStore(db.sql).get(viewOf(context), id);
      // What is recorded while the export runs is not part of it.
      const end = to_seq === 0 ? stream.head_seq : Math.min(to_seq, stream.head_seq);
      return streamLines({ db }, stream, Math.max(1, from_seq), end);
    },
  }) satisfies Streams<Context>;
