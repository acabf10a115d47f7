import type { ScanContext } from '../../../../generated/safety/types.ts';
import { Invalid } from '../../../lib/errors.ts';
import { isDeeper } from '../../../lib/json-levels.ts';
import { checkSize } from '../rules/checks.ts';

const mostBytes = 1_048_576;
const mostMetadata = 16_384;
const deepest = 8;
const mostUserId = 256;

/** What a context says of the author of a text. */
export interface Author {
  /** Undefined when it names none. */
  readonly userId: string | undefined;
  /** Why a member that was sent does not count. */
  readonly skipped: readonly string[];
}

interface Bounds {
  readonly items: number;
  readonly shortest: number;
  readonly longest: number;
}

/** Lists of which nothing may be cut off unnoticed. A member of another type is left to the engine, which names it in `skipped`. */
const lists: Readonly<Record<string, Bounds>> = {
  sources: { items: 200, shortest: 0, longest: Infinity },
  canaries: { items: 32, shortest: 8, longest: 256 },
  action: { items: 256, shortest: 0, longest: 256 },
};

/** Checks the context of a scan. @throws Invalid for one that is too large or too deep, or has a bad member, naming it */
export function checkContext(context: ScanContext): Author {
  checkSize('context', context, mostBytes);
  if (isDeeper(context, deepest)) throw Invalid(`context: nested deeper than ${deepest} levels`);
  for (const [name, bounds] of Object.entries(lists))
    if (Object.hasOwn(context, name)) checkList(`context.${name}`, context[name], bounds);
  const region = ownMember(context, 'region');
  if (typeof region === 'string' && !/^[A-Za-z]{2}$/.test(region))
    throw Invalid('context.region: must be a country in two letters (ISO 3166)');
  return authorOf(ownMember(context, 'user_id'));
}

const ownMember = (context: ScanContext, name: string): unknown =>
  Object.hasOwn(context, name) ? context[name] : undefined;

function authorOf(value: unknown): Author {
  if (value === undefined || value === null) return { userId: undefined, skipped: [] };
  if (typeof value !== 'string')
    return { userId: undefined, skipped: ['context.user_id: ignored because of its type'] };
  if (value.length > mostUserId) throw Invalid(`context.user_id: longer than ${mostUserId} characters`);
  return { userId: value === '' ? undefined : value, skipped: [] };
}

function checkList(field: string, value: unknown, { items, shortest, longest }: Bounds): void {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > items) throw Invalid(`${field}: must have at most ${items} items`);
  const bad = list.findIndex(
    (item) => typeof item === 'string' && (item.length < shortest || item.length > longest),
  );
  if (bad < 0) return;
  const place = Array.isArray(value) ? `${field}[${bad}]` : field;
  throw Invalid(`${place}: must have ${shortest} to ${longest} characters`);
}

/** @throws Invalid for metadata that is too large to be stored with each scan */
export const checkMetadata = (metadata: object): void => checkSize('metadata', metadata, mostMetadata);
