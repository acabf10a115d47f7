/**
 * An operation as the client has to know it; the generator writes one for each method. Members of a request that are
 * neither in the path, nor `body`, nor listed as headers are query parameters.
 */
export interface Operation {
  readonly verb: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the service's base URL: `{name}` is one segment, `{+name}` may contain slashes. */
  readonly path: string;
  /** Parameters that travel as headers. */
  readonly headers?: readonly string[];
  /** Query parameters whose values travel in one, with commas between them. */
  readonly joined?: readonly string[];
  /** Content type of the request body. */
  readonly body?: string;
  /** Only answers a question, whatever its verb, so that repeating it is safe. */
  readonly read?: true;
  /** How the next page of a list is asked for. */
  readonly pages?: 'cursor' | 'offset';
  /** The member of a page that has its items; without it the page is their array. */
  readonly items?: string;
  /** The member of a page that has the cursor of the next; without it the header `X-Next-Cursor` has it. */
  readonly cursor?: string;
  /** The path to the member of a page that says whether more follow. */
  readonly more?: string;
  /** The answer is not JSON: the caller gets the response with its body unread. */
  readonly unread?: true;
  /** The answer is a stream of these server-sent events; says for each what its data is. */
  readonly events?: Readonly<Record<string, 'json' | 'text'>>;
  /** The events so far are answered as JSON where that is asked for. */
  readonly recorded?: true;
}

/** Parameters by wire name and the body as `body`; the generated interfaces say which. */
export type RequestMembers = Readonly<Record<string, unknown>>;

/** An operation of a certain service, under the name by which callers know it. */
export interface Target {
  readonly service: string;
  /** `authz.roles.create` */
  readonly name: string;
  readonly operation: Operation;
}
