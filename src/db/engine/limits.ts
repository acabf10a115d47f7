/** Bounds of what the engine takes and keeps. */
export const limits = {
  name: /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/,
  payloadBytes: 65_536,
  jsonLevels: 60,
  maxAttempts: 100,
  priority: 100,
  tags: 16,
  tagLength: 64,
  keyLength: 255,
  delayMs: 8_760 * 3_600_000,
  aheadMs: 5 * 366 * 86_400_000,
  timeoutMs: [1_000, 24 * 3_600_000],
  backoffDelayMs: [1_000, 3_600_000],
  backoffMaxMs: [1_000, 24 * 3_600_000],
  retryInMs: [0, 24 * 3_600_000],
  uniqueForMs: [1_000, 720 * 3_600_000],
  /** The most jobs of one call. */
  batch: 1_000,
  /** The most bytes that one statement writes. */
  statementBytes: 4 * 2 ** 20,
} as const;
