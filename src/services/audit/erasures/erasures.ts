import type { Erasures } from '../../../../generated/audit/server.ts';
import type { Erasure } from '../../../../generated/audit/types.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { viewOf } from '../../../http/view.ts';
import { Forbidden } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import type { Deps } from '../deps.ts';
import { type Person, personStore } from '../keys/persons.store.ts';
import { refOf } from '../keys/refs.ts';
import { newestById } from '../newest-by-id.ts';
import { streamStore } from '../streams/streams.store.ts';
import { type Author, authorOf } from '../writes.ts';
import { erasureStore } from './erasures.store.ts';
import { markSome } from './marking.ts';

/** Erasures: persons whose personal data was erased. */
export const erasures = (deps: Pick<Deps, 'db' | 'known' | 'write' | 'log'>) => {
  const { db, log } = deps;
  return {
    async create({ body }, context) {
      const erasure = await erased(deps, context, body);
      // What is left goes on in the background.
      await markSome(db).catch((error: unknown) =>
        log.warn({ err: error }, 'events of an erased person are not marked yet'),
      );
      return erasure;
    },

    async list({ tenant_id, ...request }, context) {
      const window = windowOf(request, newestById);
      return answerPage(
        context.reply,
        window,
        await erasureStore(db.sql).list(viewOf(context, tenant_id), window),
      );
    },

    get: ({ id }, context) => erasureStore(db.sql).get(viewOf(context), id),
  } satisfies Erasures<Context>;
};

/**
 * Destroys the key of a person, and records that in the chain. Deleting the key waits for transactions that record events of the person;
 * those that come later get a new key.
 */
async function erased(
  { db, known, write }: Pick<Deps, 'db' | 'known' | 'write'>,
  context: Context,
  { subject_id, reason, requested_by, tenant_id = context.tenant }: Parameters<Erasures['create']>[0]['body'],
): Promise<Erasure> {
  const { app } = context;
  // Nobody may make unreadable what the platform recorded of his own tenant.
  if (subject_id === `tenant:${tenant_id}` && !context.operator)
    throw Forbidden('subject_id: only the operator may erase what concerns the tenant itself');
  const { id: stream, indexKey } = await known.of(tenant_id, app);
  const person = { tenant: tenant_id, app, ref: refOf(indexKey, 'person', subject_id) };
  const before = await countedBefore(db, person, stream);
  return write(authorOfErasure(context, tenant_id, subject_id), async ({ sql, act, emit }) => {
    const key_destroyed = await personStore(sql).delete(person);
    const store = erasureStore(sql);
    const events_affected = await affected(store, person, before);
    await store.forgetName(person, subject_id);
    const id = newId('erasure');
    const { record } = await act({
      action: 'erasure.completed',
      resource: 'erasure',
      resource_id: id,
      metadata: { erasure_id: id, events_affected, key_destroyed },
    });
    emit('audit.erasure.completed', id, { erasure_id: id, events_affected, key_destroyed });
    return store.insert({
      ...{ id, app_id: app, tenant_id, subject_id, reason, requested_by, events_affected, key_destroyed },
      ref: person.ref,
      sequence: record.sequence - 1,
    });
  });
}

/** Events of a person up to an event, without those that an earlier erasure has yet to mark. */
interface Counted {
  readonly unmarkedUpTo: number;
  readonly upTo: number;
  readonly count: number;
}

/** Counts before the key is locked, because a person may have a million events, and whoever records more of them waits for the lock. */
async function countedBefore({ sql }: Deps['db'], person: Person, stream: string): Promise<Counted> {
  const store = erasureStore(sql);
  const unmarkedUpTo = await store.unmarkedUpTo(person);
  const upTo = await streamStore(sql).headSeq(person.tenant, stream);
  return { unmarkedUpTo, upTo, count: await store.affected(person, unmarkedUpTo, upTo) };
}

async function affected(
  store: ReturnType<typeof erasureStore>,
  person: Person,
  { unmarkedUpTo, upTo, count }: Counted,
): Promise<number> {
  const now = await store.unmarkedUpTo(person);
  // Another erasure of the person came first.
  if (now !== unmarkedUpTo) return store.affected(person, now);
  return count + (await store.affected(person, upTo));
}

/** Whoever erases himself is not named in the event that says so: it would give him a new key. */
function authorOfErasure(context: Context, tenant: string, subject: string): Author {
  const author = authorOf(context, tenant);
  return author.userId === subject ? { ...author, userId: null } : author;
}
