/** What a comparison reports: a change, and a request or answer that shows it. */

/** A request as a correct client of the old contract would send it. Members that are absent are not sent. */
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
  /** The event of the stream whose data the body is. */
  readonly event?: string;
}

export interface Break {
  /** As the old contract has it: `POST /v1/roles`. */
  readonly operation: string;
  /** Where in the request or answer: `body.name`, `query.limit`, `201.body.items[].id`. */
  readonly place: string;
  /** The keyword or the kind of change: `maxLength`, `removed`. With the operation and the place it is the break's name. */
  readonly change: string;
  /** What holds now. */
  readonly message: string;
  /** What becomes of the request: `was valid, now 400`; or what leads to the answer: `may now answer`. */
  readonly outcome: string;
  /** False for what only may break a client: it is shown, and does not count. */
  readonly certain: boolean;
  /** Breaks of several operations with one cause are shown once. */
  readonly cause: string;
  readonly request: Request;
  /** Present where it is the answer that changed. */
  readonly answer?: Answer;
}
