import { afterEach } from 'vitest';
import type { TestDatabase } from '../../../../testing/database.ts';
import { masterKey } from '../../../../testing/server.ts';
import { startProcess, type WorkerProcess } from '../../../../testing/worker-processes.ts';

/** The parameters of a process that dispatches. */
export interface Start {
  readonly url: string | undefined;
  readonly dataDir: string;
  readonly masterKey: string;
  readonly leaseMs: number;
  readonly env: Readonly<Record<string, string>>;
}

/** Real processes with dispatchers on the database of a test. They end with it. */
export function dispatchProcesses(db: () => Pick<TestDatabase, 'options'>) {
  const open = new Set<WorkerProcess>();
  afterEach(async () => {
    for (const one of open) one.signal('SIGCONT');
    await Promise.all([...open].map((one) => one.kill()));
    open.clear();
  });
  return async (leaseMs: number, env: Record<string, string> = {}): Promise<WorkerProcess> => {
    const start: Start = { ...db().options, masterKey: masterKey.toString('base64'), leaseMs, env };
    const one = await startProcess(new URL('./dispatch-process.ts', import.meta.url), start);
    open.add(one);
    await one.call('work');
    return one;
  };
}
