/**
 * An operation as the client needs to know it. The generator writes one for each method. Members of a request that are neither
 * in the path, nor `body`, nor listed as headers are query parameters.
 */
export interface Operation {
  readonly verb: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the service's base URL. `{name}` is one segment; `{+name}` may contain slashes. */
  readonly path: string;
  /** Parameters sent as headers. */
  readonly headers?: readonly string[];
  /** Members that are maps and are sent as headers, with the prefix of the headers' names. */
  readonly prefixed?: Readonly<Record<string, string>>;
  /** Query parameters whose values are sent as one value, separated by commas. */
  readonly joined?: readonly string[];
  /** Content type of the request body. */
  readonly body?: string;
  /** Set when the operation only reads, whatever its verb, so that repeating it is safe. */
  readonly read?: true;
  /**
   * Set when the operation creates something: an idempotency key makes it safe to repeat, and the client adds one if the caller
   * does not.
   */
  readonly creates?: true;
  /** The success statuses without a body. */
  readonly empty?: readonly number[];
  /** How the next page of a list is requested. */
  readonly pages?: 'cursor' | 'offset';
  /** The member of a page that has its items. Without it, the page is the array of items. */
  readonly items?: string;
  /** The member of a page that has the next cursor. Without it, the header `X-Next-Cursor` has it. */
  readonly cursor?: string;
  /** The path to the member of a page that says whether more follow. */
  readonly more?: string;
  /** Set when the answer is not JSON: the caller gets the response with its body unread. */
  readonly unread?: true;
  /** Set when the answer is a stream of these server-sent events, with the format of each event's data. */
  readonly events?: Readonly<Record<string, 'json' | 'text'>>;
  /** Set when the events so far can be requested as JSON. */
  readonly recorded?: true;
}

/** Parameters by wire name, and the body as `body`. The generated interfaces define the members of each request. */
export type RequestMembers = Readonly<Record<string, unknown>>;

/** An operation of a service, under the name by which callers know it. */
export interface Target {
  readonly service: string;
  /** For example `authz.roles.create`. */
  readonly name: string;
  readonly operation: Operation;
}
