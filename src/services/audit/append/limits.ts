/** What an event may hold. The contract says the same where OpenAPI can. */
export const limits = {
  metadataBytes: 32 * 1_024,
  metadataLevels: 8,
  eventBytes: 64 * 1_024,
  earliestMs: Date.parse('2000-01-01T00:00:00Z'),
  /** How far ahead an event may be. */
  aheadMs: 5 * 60_000,
  /** The most bytes of the events that wait to be stored in this process. */
  waitingBytes: 64 * 1_024 * 1_024,
} as const;
