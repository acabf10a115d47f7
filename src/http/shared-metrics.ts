import cluster from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';

/*
 * A scrape reaches one worker, and wants the numbers of all. That worker asks the primary process, which asks every worker
 * (prom-client does that part), adds up and answers.
 */

/** From a worker: the number of its question. Back from the primary: the same, with the text; without one it failed. */
interface Message {
  readonly plinthMetrics: number;
  readonly text?: string | undefined;
}

/** In the primary process: answers workers that ask for the metrics of all. */
export function shareMetrics(): void {
  const workers = new AggregatorRegistry();
  cluster.on('message', (worker, message: unknown) => {
    if (!isMessage(message)) return;
    const { plinthMetrics } = message;
    const answer = (text?: string) => worker.isConnected() && worker.send({ plinthMetrics, text });
    workers.clusterMetrics().then(answer, () => answer());
  });
}

/** In a worker: gives away `own` when asked, and asks for the metrics of all workers. Rejects when one did not answer. */
export function metricsOfAll(own: Registry[]): () => Promise<string> {
  // Made for its listener, which answers the primary.
  new AggregatorRegistry();
  AggregatorRegistry.setRegistries(own);
  const waiting = new Map<number, (text: string | undefined) => void>();
  let questions = 0;
  process.on('message', (message: unknown) => {
    if (!isMessage(message)) return;
    waiting.get(message.plinthMetrics)?.(message.text);
    waiting.delete(message.plinthMetrics);
  });
  return async () => {
    const plinthMetrics = (questions += 1);
    const answer = new Promise<string | undefined>((resolve) => waiting.set(plinthMetrics, resolve));
    process.send?.({ plinthMetrics });
    const text = await answer;
    if (text === undefined) throw new Error('a worker did not give its metrics');
    return text;
  };
}

const isMessage = (message: unknown): message is Message =>
  typeof message === 'object' && message !== null && 'plinthMetrics' in message;
