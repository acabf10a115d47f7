import type { WorkerJob } from '../types.ts';

/**
 * Tells the time of the server, because only this time can be compared with the times that the server recorded. Returns
 * milliseconds since 1970.
 */
export function serverClock({ started_at }: WorkerJob, arrivedAt: number): () => number {
  const startedAt = started_at === null ? Date.now() : Date.parse(started_at);
  // The clock is late by the time that the job was in transit, so nothing happens too early.
  return () => startedAt + performance.now() - arrivedAt;
}
