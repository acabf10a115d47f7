import { isDeepStrictEqual } from 'node:util';
import { DomainError, Invalid } from '../lib/errors.ts';
import { momentText, parseMoment } from '../lib/moments.ts';
import type { Operator } from './access.ts';
import type { Asker } from './asker.ts';
import { handlerOf } from './handlers.ts';
import type { Operation } from './operation.ts';
import { checkUntaken, isScopeMember, notTaken } from './own-scope.ts';
import { portCall } from './port-call.ts';
import { portRequestReader } from './port-request.ts';
import type { Request, WrittenBack } from './request.ts';
import type { Mounted } from './runtime.ts';

export type CheckWrittenBack = (request: Request, written: WrittenBack, asker: Asker) => Promise<void>;

/**
 * Builds the check that what a client writes back is what it could have read: another tenant or status would be accepted and
 * have no effect. The resource is read by the handler of the `GET` at the same path, with the parameters and the reach of the
 * request; the access of the change has been checked, and its answer contains the whole resource anyway. A resource that does
 * not exist is the handler's affair where the operation documents a 404; elsewhere it is about to be created.
 */
export function writtenBackCheck(
  operation: Operation,
  mounted: Mounted,
  operator: Operator,
): CheckWrittenBack | undefined {
  if (!operation.body?.leeway?.fixed) return undefined;
  const reading = mounted.operations.find(({ verb, path }) => verb === 'GET' && path === operation.path);
  const get = reading && handlerOf(mounted, reading);
  const read = reading && portRequestReader(reading, mounted.validators[reading.id] ?? {});
  const names = operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
  const finds = operation.responses.some(({ status }) => status === 404);

  return async (request, written, asker) => {
    const call = portCall(asker, mounted.name, operator);
    const place = Object.fromEntries(names.map((name) => [name, request[name]]));
    const found = get && read && (await foundBy(() => get(read(place, call).request as never, call)));
    if (found === undefined && finds) return;
    const present = wireForm(found ?? place);
    for (const [name, value] of Object.entries(written)) {
      if (found === undefined && isScopeMember(name)) checkUntaken(call, name, value, '');
      else if (!isSame(value, present[name] ?? null)) throw notTaken(name) ?? notSettable(name);
    }
  };
}

/** Returns what a handler finds; undefined when it finds nothing. */
async function foundBy(find: () => unknown): Promise<unknown> {
  try {
    return await find();
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'notFound') return undefined;
    throw error;
  }
}

/** Many clients read a moment into a value of their own and write it in another form: without zeros at the end, or with `+00:00`. */
const isSame = (value: unknown, present: unknown): boolean =>
  isDeepStrictEqual(value, present) ||
  (typeof value === 'string' &&
    typeof present === 'string' &&
    moment.test(present) &&
    normalMoment(value) === present);

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Undefined for a text that is no moment, or a finer one than any that is stored. */
function normalMoment(text: string): string | undefined {
  try {
    const { ms, cut } = parseMoment(text, '');
    return cut ? undefined : momentText(ms);
  } catch {
    return undefined;
  }
}

const wireForm = (value: unknown) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>;

const notSettable = (name: string) =>
  Invalid(`${name}: is set by the server; leave it out or send the value that it has`);
