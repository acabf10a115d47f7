import cluster from 'node:cluster';
import { collectDefaultMetrics, Registry, type Metric } from 'prom-client';
import type { Operation } from './operation.ts';
import { metricsOfAll } from './shared-metrics.ts';

export interface Metrics {
  /** The text that `/metrics` returns: the metrics of this process, or of all workers together. */
  text(): Promise<string>;
  readonly contentType: string;
  /** Creates the recorder of an operation, once per operation. */
  recorder(operation: Operation): RecordRequest;
  /** Counts a request as in flight until `end`. */
  begin(): void;
  end(): void;
}

/** A metric whose values are looked up when the metrics are read. */
export interface Figure {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  /** How to combine the values of several processes; `max` when each process sees the whole. */
  readonly aggregator: 'sum' | 'max';
  readonly read: () => readonly FigureValue[] | Promise<readonly FigureValue[]>;
}

export interface FigureValue {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Counts one answered request: its status and its time in milliseconds. */
export type RecordRequest = (status: number, milliseconds: number) => void;

/** Upper bounds of the buckets in seconds; one further bucket takes the rest. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Cell {
  readonly labels: { service: string; operation: string; status: number };
  readonly buckets: number[];
  sum: number;
}

/**
 * Counts requests and their times by operation and status, in addition to the default metrics of the process. Recording costs a
 * few additions; labels are built when the metrics are read, not for each request.
 */
export function createMetrics(figures: readonly Figure[] = []): Metrics {
  const registry = new Registry();
  const cells: Cell[] = [];
  let inFlight = 0;
  registry.registerMetric(histogram(cells));
  for (const figure of [requestsInFlight(() => inFlight), ...figures])
    registry.registerMetric(metricOf(figure));
  const own = [processMetrics(), registry];
  return {
    text: cluster.isWorker ? metricsOfAll(own) : () => Registry.merge(own).metrics(),
    contentType: registry.contentType,
    recorder: (operation) => recorder(operation, cells),
    begin() {
      inFlight += 1;
    },
    end() {
      inFlight -= 1;
    },
  };
}

/** The process is measured only once, even when several servers run in it. */
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

const requestsInFlight = (read: () => number): Figure => ({
  name: 'plinth_http_requests_in_flight',
  help: 'Requests that were not answered yet.',
  type: 'gauge',
  aggregator: 'sum',
  read: () => [{ labels: {}, value: read() }],
});

function metricOf({ read, ...description }: Figure): Metric<string> {
  const get = async () => ({ ...description, values: await read() });
  return { ...description, get, reset() {} } as unknown as Metric<string>;
}

/** The registry reads a metric only through `get`, so a metric that keeps its own numbers can be registered. */
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
