import type { IncomingMessage } from 'node:http';
import { DomainError, Invalid, type ErrorKind } from '../lib/errors.ts';
import { bodyReader, isRaw } from './body.ts';
import type { BodyTime } from './body-time.ts';
import type { Context } from './context.ts';
import { applyLeeway } from './leeway.ts';
import { normalMoments } from './moments.ts';
import type { Leeway, Moments, Operation, Validate, Validators } from './operation.ts';
import { checkUntaken, isScopeMember, scopeCheck } from './own-scope.ts';
import { prefixedHeaderReader } from './prefixed-headers.ts';
import { problem } from './problems.ts';
import { queryReader, type Query } from './query.ts';
import { checkText } from './text.ts';

/** A validated request: path, query and header parameters by wire name, the body as `body`. */
export type Request = Record<string, unknown>;

/** The request as it was on the wire, for the second check in strict mode. */
export interface Wire {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: unknown;
}

/** The tenant and the app that a request may name. */
type Scope = Pick<Context, 'tenant' | 'app' | 'operator'>;

/** Members of a change that only the server sets: their values must be those of what the request changes. */
export type WrittenBack = Readonly<Record<string, unknown>>;

/** A request as its handler receives it, and what it carried besides. */
export interface Read {
  readonly request: Request;
  readonly written?: WrittenBack | undefined;
}

export type ReadRequest = (
  req: IncomingMessage,
  params: Readonly<Record<string, string>>,
  caller: Scope | undefined,
  judge?: (wire: Wire) => Promise<void>,
) => Promise<Read>;

/**
 * Reads the requests of one operation: decodes, checks and coerces parameters, reads and checks the body, drops read-only
 * members and fills in defaults. Throws `Invalid`, naming the field, for the first problem.
 */
export function requestReader(operation: Operation, validators: Validators): ReadRequest {
  const readQuery = queryReader(operation);
  const readHeaders = headerReader(operation, validators.header);
  const prefixed = operation.prefixedHeaders;
  const readPrefixed = prefixed && prefixedHeaderReader(prefixed);
  const readBody = operation.body ? bodyReader(operation.body, bodyTime(operation)) : undefined;
  const raw = operation.body !== null && isRaw(operation.body);
  const rules = requestRules(operation, validators);
  const read: ReadRequest = async (req, params, caller, judge) => {
    const request: Request = {};
    for (const name in params) {
      checkText(params[name]!, name);
      request[name] = params[name];
    }
    rules.checkPath(request);
    const query = readQuery(queryOf(req));
    rules.prepareQuery(query, caller);
    const asked = judge ? { ...query } : query;
    rules.checkQuery(query);
    Object.assign(request, query);
    if (readHeaders) Object.assign(request, readHeaders(req));
    if (readPrefixed) request[prefixed.member] = readPrefixed(req);
    const reading = readBody?.(req);
    const body = reading instanceof Promise ? await reading : reading;
    const written = rules.prepareBody(body, caller);
    if (raw) request['Content-Type'] = req.headers['content-type'];
    const sent = judge && validators.body ? structuredClone(body) : undefined;
    if (body !== undefined) {
      rules.checkBody(body);
      request['body'] = body;
    }
    await judge?.({ params, query: asked, body: sent });
    return { request, written };
  };
  return operation.responses.some(({ status }) => status === 400) ? read : tolerant(read);
}

/** The time limits of an operation's body; undefined when it has none of its own. */
function bodyTime({ timeLimits }: Operation): BodyTime | undefined {
  if (timeLimits === undefined) return undefined;
  const { body, silence } = timeLimits;
  return {
    ...(body !== undefined && { totalMs: body * 1000 }),
    ...(silence !== undefined && { silenceMs: silence * 1000 }),
  };
}

/**
 * Checks that apply to the values of a request, however the values arrived. To prepare values is to refuse another's tenant or
 * app, to drop members without effect and to bring moments to their normal form; to check values is to coerce them, to fill in
 * defaults and to throw `Invalid`, naming the field, for the first problem.
 */
export function requestRules(operation: Operation, validators: Validators) {
  const leeway = operation.body?.leeway ?? undefined;
  const moments = operation.body?.moments;
  const momentsOfQuery = queryMoments(operation);
  const checkOwnScope = scopeCheck(operation);
  const drop = dropper(operation);
  return {
    checkPath(values: Request): void {
      if (validators.path) validate(validators.path, values, 'path');
    },
    prepareQuery(query: Request, caller: Scope | undefined): void {
      if (caller) checkOwnScope(caller, query);
      if (momentsOfQuery) normalMoments(momentsOfQuery, query, '');
    },
    checkQuery(query: Request): void {
      if (validators.query) validate(validators.query, query, 'query');
    },
    prepareBody(body: unknown, caller: Scope | undefined): WrittenBack | undefined {
      if (caller) checkOwnScope(caller, body);
      const written = leeway && drop(leeway, body, caller);
      if (moments) normalMoments(moments, body, '');
      return written;
    },
    checkBody(body: unknown): void {
      if (validators.body) validate(validators.body, body, 'body');
    },
  };
}

/**
 * Builds what drops the members without effect from a body, and returns those that have to be compared with the resource. The
 * operator reaches resources of other tenants by their ids, and may write back what it read there.
 */
function dropper({ body, ownApps }: Operation) {
  const fixed = new Set(body?.leeway?.fixed);
  return (leeway: Leeway, value: unknown, caller: Scope | undefined): WrittenBack | undefined => {
    let written: Record<string, unknown> | undefined;
    applyLeeway(leeway, value, (name, given, place, refused) => {
      const compared = place === '' && fixed.has(name);
      if (compared) (written ??= {})[name] = given;
      if (isScopeMember(name)) {
        if (caller && !(compared && (caller.operator || ownApps))) checkUntaken(caller, name, given, place);
      } else if (refused) throw Invalid(`${place}${name}: is set by the server, leave it out`);
    });
    return written;
  };
}

/** The moments among the query parameters, described as members of one object; undefined when there are none. */
function queryMoments({ parameters }: Operation): Moments | undefined {
  const found = parameters.flatMap((parameter) =>
    parameter.in === 'query' && parameter.moments ? [[parameter.name, parameter.moments] as const] : [],
  );
  return found.length > 0 ? { members: Object.fromEntries(found) } : undefined;
}

/** An operation that documents no 400 treats a request that it cannot read as empty. */
const tolerant =
  (read: ReadRequest): ReadRequest =>
  (...given) =>
    read(...given).catch((error: unknown) => {
      if (error instanceof DomainError && unreadable.has(error.kind)) return { request: {} };
      throw error;
    });

const unreadable: ReadonlySet<ErrorKind> = new Set(['invalid', 'unsupportedMediaType']);

function queryOf({ url = '' }: IncomingMessage): string {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}

function validate(validator: Validate, data: unknown, whole: string): void {
  if (!validator(data)) throw Invalid(problem(validator.errors ?? [], whole));
}

/** Header parameters are validated under their lower-case names and passed on under their wire names. */
export function headerReader({ parameters }: Operation, validator: Validate | undefined) {
  const names = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
  if (names.length === 0 || !validator) return undefined;
  return (req: Pick<IncomingMessage, 'headers'>): Request => {
    const found: Request = {};
    for (const name of names) {
      const value = req.headers[name.toLowerCase()];
      if (value !== undefined) found[name.toLowerCase()] = value;
    }
    if (!validator(found)) {
      const said = problem(validator.errors ?? [], 'headers');
      const named = names.find((name) => said.startsWith(`${name.toLowerCase()}:`)) ?? '';
      throw Invalid(named + said.slice(named.length));
    }
    return Object.fromEntries(names.map((name) => [name, found[name.toLowerCase()]]));
  };
}
