import cluster from 'node:cluster';
import { AggregatorRegistry, Gauge, Registry } from 'prom-client';

/*
 * A scrape reaches one worker but needs the metrics of all workers. That worker asks the primary process, which asks every
 * worker, aggregates the answers and replies. A worker that hangs is left out: only its own metrics are missing.
 */

/** From a worker: the number of its question. Back from the primary process: the same number, with the text. */
interface Question {
  readonly plinthMetrics: number;
  readonly text?: string;
}

/** From the primary process: the number of a round. Back from a worker: the same number, with its registries as JSON. */
interface Round {
  readonly plinthMetricsRound: number;
  readonly registries?: readonly object[];
}

/** How long the primary process waits for the slowest worker, in milliseconds. */
const patience = 1_000;

/** Runs in the primary process: answers workers that ask for the metrics of all workers. */
export function shareMetrics(): void {
  const answers = new Map<number, (registries: readonly object[]) => void>();
  let rounds = 0;

  async function all(): Promise<string> {
    const asked = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected());
    const given: (readonly object[])[] = [];
    const round = (rounds += 1);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, patience);
      answers.set(round, (registries) => {
        if (given.push(registries) < asked.length) return;
        clearTimeout(timer);
        resolve();
      });
      for (const worker of asked) worker?.send({ plinthMetricsRound: round }, () => {});
    });
    answers.delete(round);
    const sum = await AggregatorRegistry.aggregate(given.flat()).metrics();
    return `${sum.trimEnd()}\n${await workers(given.length, asked.length).metrics()}`;
  }

  cluster.on('message', (worker, message: unknown) => {
    if (isRound(message)) return answers.get(message.plinthMetricsRound)?.(message.registries ?? []);
    if (!isQuestion(message)) return;
    const { plinthMetrics } = message;
    void all().then((text) => worker.isConnected() && worker.send({ plinthMetrics, text }, () => {}));
  });
}

/** The numbers of workers that answered and that did not. */
function workers(answering: number, asked: number): Registry {
  const registry = new Registry();
  const help = 'Worker processes, by whether they answered this scrape in time.';
  const gauge = new Gauge({ name: 'plinth_workers', help, labelNames: ['state'], registers: [registry] });
  gauge.set({ state: 'answering' }, answering);
  gauge.set({ state: 'silent' }, asked - answering);
  return registry;
}

/** Runs in a worker: sends `own` when asked, and returns a function that asks for the metrics of all workers. */
export function metricsOfAll(own: readonly Registry[]): () => Promise<string> {
  const waiting = new Map<number, (text: string) => void>();
  let questions = 0;
  process.on('message', (message: unknown) => {
    if (isRound(message)) {
      const { plinthMetricsRound } = message;
      void Promise.all(own.map((registry) => registry.getMetricsAsJSON())).then((registries) =>
        process.send?.({ plinthMetricsRound, registries }),
      );
    } else if (isQuestion(message)) {
      waiting.get(message.plinthMetrics)?.(message.text ?? '');
      waiting.delete(message.plinthMetrics);
    }
  });
  return () => {
    const plinthMetrics = (questions += 1);
    const answer = new Promise<string>((resolve) => waiting.set(plinthMetrics, resolve));
    process.send?.({ plinthMetrics });
    return answer;
  };
}

const has = (message: unknown, member: string) =>
  typeof message === 'object' && message !== null && member in message;
const isQuestion = (message: unknown): message is Question => has(message, 'plinthMetrics');
const isRound = (message: unknown): message is Round => has(message, 'plinthMetricsRound');
