/** Members of services in the client that are written by hand and added to the generated ones. */

export interface HandWrittenMember {
  readonly name: string;
  readonly description: string;
  /**
   * The module that exports the member's type and a function that creates it from a client; relative to the folder of services.
   */
  readonly from: string;
  readonly type: string;
  readonly maker: string;
  /** The module whose exports the service also exports. */
  readonly exports: string;
}

const worker: HandWrittenMember = {
  name: 'worker',
  description: `
A worker that executes the jobs of queues and the runs of workflows in this process.

@example
\`\`\`ts
const worker = plinth.jobs.worker({
  queues: { emails: { 'email.send': ({ payload }) => console.log(payload) } },
});
await worker.start();
\`\`\``,
  from: 'runtime/worker/lazy.ts',
  type: 'CreateWorker',
  maker: 'workerOf',
  exports: 'runtime/worker/index.ts',
};

const replica: HandWrittenMember = {
  name: 'replica',
  description: `
Records on this device, which are read and written without a connection and synchronized when there is one.

@example
\`\`\`ts
import { indexedDbStorage } from '@plinth/sdk';
const replica = await plinth.sync.replica({ tables: ['notes'], storage: indexedDbStorage('notes') });
replica.start();
await replica.table('notes').set('note-17', { title: 'Shopping' });
\`\`\``,
  from: 'sync/replica/lazy.ts',
  type: 'CreateReplica',
  maker: 'replicaOf',
  exports: 'sync/replica/index.ts',
};

const members: Readonly<Record<string, readonly HandWrittenMember[]>> = { jobs: [worker], sync: [replica] };

/** The hand-written members of a service. */
export const handWrittenMembers = (service: string): readonly HandWrittenMember[] => members[service] ?? [];
