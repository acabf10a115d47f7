/** The result of a comparison: a change, and a request or answer that shows it. */

/** A request that a correct client of the old contract sends. Absent members are not sent. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType?: string;
  readonly body?: unknown;
}

export interface Answer {
  readonly status: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType?: string;
  readonly body?: unknown;
  /** The event of the stream whose data is the body. */
  readonly event?: string;
}

export interface Break {
  /** The operation as in the old contract: `POST /v1/roles`. */
  readonly operation: string;
  /** The place in the request or answer: `body.name`, `query.limit`, `201.body.items[].id`. */
  readonly place: string;
  /** The keyword or the kind of change: `maxLength`, `removed`. Together with the operation and the place, it is the break's name. */
  readonly change: string;
  /** What the new contract says. */
  readonly message: string;
  /** The effect on the request: `was valid, now 400`; or what leads to the answer: `may now answer`. */
  readonly outcome: string;
  /** False for a change that only might break a client: it is shown, but does not count. */
  readonly certain: boolean;
  /** Breaks of several operations with the same cause are shown once. */
  readonly cause: string;
  readonly request: Request;
  /** Present when the answer changed. */
  readonly answer?: Answer;
}

/** A break before its operation is added. Omitted members have the default of their kind. */
export type Draft = Pick<Break, 'place' | 'change' | 'message'> & Partial<Break>;
