import type { Client } from '../../runtime/client.ts';
import { changesOf } from '../../services/sync/changes.ts';
import { infoOf } from '../../services/sync/info.ts';
import { presenceOf } from '../../services/sync/presence.ts';
import type { Replica, ReplicaOptions } from './types.ts';

/** Opens a replica. Nothing is sent until it starts. */
export type CreateReplica = (options: ReplicaOptions) => Promise<Replica>;

/** The code of replicas is loaded when one is opened, so pages that only use the service do not pay for it. */
export const replicaOf =
  (client: Client): CreateReplica =>
  async (options) => {
    const { openReplica } = await import('./replica.ts');
    const resources = { changes: changesOf(client), info: infoOf(client), presence: presenceOf(client) };
    return openReplica(resources, options);
  };
