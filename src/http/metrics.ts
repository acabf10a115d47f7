import cluster from 'node:cluster';
import { collectDefaultMetrics, Registry, type Metric } from 'prom-client';
import type { Operation } from './operation.ts';
import { metricsOfAll } from './shared-metrics.ts';

export interface Metrics {
  /** What `/metrics` answers: the numbers of this process, or of all workers together. */
  text(): Promise<string>;
  readonly contentType: string;
  /** The recorder of an operation, made once. */
  recorder(operation: Operation): RecordRequest;
}

/** Counts one answered request: its status and its time in milliseconds. */
export type RecordRequest = (status: number, milliseconds: number) => void;

/** Upper bounds in seconds; the last bucket takes the rest. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Cell {
  readonly labels: { service: string; operation: string; status: number };
  readonly buckets: number[];
  sum: number;
}

/**
 * Requests and their times by operation and status, next to the default metrics of the process. Recording is a few
 * additions; labels are put together when somebody reads the metrics, not for each request.
 */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const cells: Cell[] = [];
  registry.registerMetric(histogram(cells));
  const own = [processMetrics(), registry];
  return {
    text: cluster.isWorker ? metricsOfAll(own) : () => Registry.merge(own).metrics(),
    contentType: registry.contentType,
    recorder: (operation) => recorder(operation, cells),
  };
}

/** The process is measured once, however many servers run in it. */
let measured: Registry | undefined;
function processMetrics(): Registry {
  if (!measured) collectDefaultMetrics({ register: (measured = new Registry()) });
  return measured;
}

function recorder({ service, id }: Operation, cells: Cell[]): RecordRequest {
  const own: (Cell | undefined)[] = [];
  return (status, milliseconds) => {
    let cell = own[status];
    if (!cell) {
      cell = { labels: { service, operation: id, status }, buckets: bounds.concat(0).fill(0), sum: 0 };
      own[status] = cell;
      cells.push(cell);
    }
    const seconds = milliseconds / 1000;
    let at = 0;
    while (at < bounds.length && seconds > bounds[at]!) at++;
    cell.buckets[at]!++;
    cell.sum += seconds;
  };
}

/** The registry reads a metric by its `get` alone, so one that keeps its own numbers can take part. */
function histogram(cells: readonly Cell[]): Metric<string> {
  const name = 'plinth_http_request_duration_seconds';
  const description = {
    name,
    help: 'Time from the head of a request to the end of its answer, by operation and status.',
    type: 'histogram',
    aggregator: 'sum',
  };
  const get = async () => ({ ...description, values: cells.flatMap((cell) => valuesOf(cell, name)) });
  return { ...description, get, reset() {} } as unknown as Metric<string>;
}

function valuesOf({ labels, buckets, sum }: Cell, name: string) {
  let count = 0;
  const rows = buckets.map((own, at) => {
    count += own;
    return { metricName: `${name}_bucket`, labels: { le: bounds[at] ?? '+Inf', ...labels }, value: count };
  });
  return [
    ...rows,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
