import type { Presence } from '../../../../generated/sync/server.ts';
import type { PresenceEventType } from '../../../../generated/sync/types.ts';
import { canonical, NotCanonical } from '../../../../sdk/src/sync/canonical.ts';
import type { Context } from '../../../http/context.ts';
import { Invalid } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { inSlices } from '../../../lib/slices.ts';
import { datasetOf, subjectOf } from '../dataset.ts';
import type { Deps } from '../deps.ts';
import { LimitReached, NodeOfAnother, PresenceDisabled } from '../errors.ts';
import { mostNodes, mostPresenceBytes, mostTopics } from '../limits.ts';
import { type Announced, presenceStore } from './presence.store.ts';

export function presence({ db, settings, wake }: Pick<Deps, 'db' | 'settings' | 'wake'>) {
  const store = presenceStore(db.sql);
  const checkEnabled = () => {
    if (settings.presence === 'off') throw PresenceDisabled();
  };

  return {
    async update({ body: { NodeID, Topic, Data = null } }, context) {
      checkEnabled();
      const dataset = datasetOf(context);
      const announced = await store.announce(dataset, {
        ...{ topic: Topic, node: NodeID, data: Data === null ? null : dataText(Data) },
        ...{ ttlMs: settings.presenceTtlMs, subject: subjectOf(context), claimed: newId('evt') },
      });
      const Type = typeOf(announced);
      if (announced !== 'same' && announced !== 'absent') wake(dataset);
      return { Type, NodeID, Topic, Data };
    },

    async get({ topic }, context) {
      checkEnabled();
      const stored = await store.onTopic(datasetOf(context), topic);
      const States = await inSlices(stored, ({ node_id, data, updated_at, expires_at }) => ({
        ...{ NodeID: node_id, Topic: topic, Data: JSON.parse(data) as unknown },
        ...{ UpdatedAt: updated_at, ExpiresAt: expires_at },
      }));
      return { Topic: topic, States };
    },
  } satisfies Presence<Context>;
}

function dataText(data: unknown): string {
  try {
    return canonical(data, mostPresenceBytes);
  } catch (error) {
    if (error instanceof NotCanonical) throw Invalid(`Data: ${error.message}`);
    throw error;
  }
}

/** The type of the event that readers get. @throws Forbidden or Conflict when the announcement was refused */
function typeOf(announced: Announced): PresenceEventType {
  if (announced === 'owner') throw NodeOfAnother();
  if (announced === 'topic') throw LimitReached(mostNodes, 'nodes in a topic');
  if (announced === 'node') throw LimitReached(mostTopics, 'topics of a node');
  if (announced === 'absent') return 'leave';
  return announced === 'same' ? 'update' : announced;
}
