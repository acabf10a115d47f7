import type { WorkerJob } from '../types.ts';

/** Tells the time of the server, which alone compares with the times that it recorded. Returns milliseconds since 1970. */
export function serverClock({ started_at }: WorkerJob, arrivedAt: number): () => number {
  const startedAt = started_at === null ? Date.now() : Date.parse(started_at);
  // It is late by as long as the job was on its way, so nothing happens too early.
  return () => startedAt + performance.now() - arrivedAt;
}
