import type { Statements } from './statements.ts';

export interface Probe {
  /** Resolves when the database answers. Calls during a query share its answer. */
  ask(): Promise<void>;
  close(): Promise<void>;
}

/** Checks that the database answers, over a separate connection, so that the check does not wait behind requests. */
export function createProbe({ sql, close }: Statements): Probe {
  let asked: Promise<void> | undefined;
  return {
    ask() {
      asked ??= sql`select 1`
        .then(() => {})
        .finally(() => {
          asked = undefined;
        });
      return asked;
    },
    close,
  };
}
