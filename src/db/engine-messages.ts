/** Messages between the process and the thread of the embedded database. Connections are numbers. */
export type ToEngine =
  | { readonly kind: 'message'; readonly connection: number; readonly bytes: Uint8Array<ArrayBuffer> }
  /** The connection is closed. */
  | { readonly kind: 'release'; readonly connection: number }
  | { readonly kind: 'refuseWrites'; readonly refused: boolean }
  | { readonly kind: 'close' };

export type FromEngine =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly connection: number; readonly bytes: Uint8Array<ArrayBuffer> }
  /** A file could not be opened, created or read. */
  | { readonly kind: 'fileTrouble' }
  /** The connection's transaction holds the database but is idle. */
  | { readonly kind: 'idle'; readonly connection: number; readonly waiting: number };

/** The data with which the thread is started. */
export interface EngineData {
  readonly dataDir: string;
  /** The numbers of messages begun and ended, visible from outside while the thread is busy. */
  readonly progress: Int32Array<SharedArrayBuffer>;
  readonly maxIdleMs: number;
  /** The approximate maximum of files that the database has open. */
  readonly maxFiles: number;
}

/** The indexes in `progress`. */
export const counter = { begun: 0, ended: 1 } as const;
