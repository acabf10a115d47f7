import { startProcess } from '../../src/testing/worker-processes.ts';

/** The process that receives deliveries. */
export interface Receiver {
  readonly url: string;
  /** Runs `work` and resolves with the delays of all requests, in milliseconds, when this many have arrived. */
  readonly during: (count: number, work: () => Promise<unknown>) => Promise<number[]>;
  /** Resolves when this many requests have arrived since the last measurement began. */
  readonly received: (count: number) => Promise<unknown>;
  /** Ends the requests that hang. */
  readonly cut: () => Promise<void>;
}

/** Runs `use` with a receiver, and always ends it afterwards. */
export async function* withReceiver<Value>(
  use: (receiver: Receiver) => AsyncIterable<Value>,
): AsyncGenerator<Value> {
  const process = await startProcess(new URL('./sink.ts', import.meta.url), {});
  try {
    yield* use({
      received: (count) => process.call('received', count),
      cut: () => process.call('cut'),
      url: `http://127.0.0.1:${await process.call<number>('port')}`,
      async during(count, work) {
        await process.call('reset');
        const received = process.call<number[]>('received', count);
        await work();
        return received;
      },
    });
  } finally {
    await process.kill();
  }
}
