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
  /** Content type of the request body. */
  readonly body?: string;
  /** Only answers a question, whatever its verb, so that repeating it is safe. */
  readonly read?: true;
  /** How the next page of a list is asked for. */
  readonly pages?: 'cursor' | 'offset';
  /** The answer is not JSON: the caller gets the response with its body unread. */
  readonly unread?: true;
  /** The answer is a stream of these server-sent events; says for each what its data is. */
  readonly events?: Readonly<Record<string, 'json' | 'text'>>;
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
