import type { EventTypes } from '../../../../generated/webhooks/server.ts';
import type { EventType } from '../../../../generated/webhooks/types.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { Invalid } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { changedTerms, newTerms } from './event-type-terms.ts';
import { byName, eventTypeStore } from './event-types.store.ts';
import { compileNewSchema } from './data-validator.ts';
import { platformTypes } from './platform-types.ts';

/** Event types: the catalogue that all tenants of an app share. */
export const eventTypes = ({ db, write }: Pick<Deps, 'db' | 'write'>) =>
  ({
    async create({ body }, context) {
      const terms = newTerms(body, new Date());
      await checkExample(body);
      return await write(context, async ({ sql, emit }) => {
        await eventTypeStore(sql).put(context.app, body.name, terms);
        const type = await eventTypeStore(sql).get(context.app, body.name);
        emit('webhooks.event_type.registered', { id: body.name }, type);
        return type;
      });
    },

    async list({ group, include_deprecated, include_platform, ...request }, { app, reply }) {
      const window = windowOf(request, byName);
      const filter = {
        group,
        deprecated: include_deprecated,
        platform: include_platform ? platformTypes : [],
      };
      const { rows, cut } = await eventTypeStore(db.sql).list(app, filter, window);
      return answerPage(reply, window, rows, cut);
    },

    get: ({ name }, { app }) => eventTypeStore(db.sql).get(app, name),

    update: ({ name, body }, context) =>
      write(context, async ({ sql, emit }) => {
        const { app } = context;
        const store = eventTypeStore(sql);
        await store.lock(app, name);
        const { schema, example } = await store.get(app, name);
        const terms = changedTerms(body);
        await checkExample({ schema, example, ...body });
        await store.update(app, name, terms);
        const type = await store.get(app, name);
        emit('webhooks.event_type.registered', { id: name }, type);
        return type;
      }),

    delete: ({ name }, context) =>
      write(context, async ({ sql, emit }) => {
        const { app } = context;
        await eventTypeStore(sql).lock(app, name);
        if (await eventTypeStore(sql).deprecate(app, name))
          emit('webhooks.event_type.deprecated', { id: name }, await eventTypeStore(sql).get(app, name));
      }),
  }) satisfies EventTypes<Context>;

/** Checks the schema, and that the example satisfies it. */
async function checkExample({
  schema = null,
  example = null,
}: Partial<Pick<EventType, 'schema' | 'example'>>): Promise<void> {
  if (schema === null) return;
  const validate = await compileNewSchema(schema);
  const violation = example === null ? undefined : validate(example);
  if (violation !== undefined) throw Invalid(`example: does not match the schema: ${violation}`);
}
