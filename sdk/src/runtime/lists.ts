import { AnswerPromise, type List, type Raw } from './answer.ts';
import { aborted, PlinthError } from './errors.ts';
import type { RequestMembers, Target } from './operation.ts';

type AskPage<Page> = (request: RequestMembers) => Promise<Raw<Page>>;

/** A list whose first page is requested at once. Its other pages are requested when the loop reaches them. */
export class PagedList<Item, Page> extends AnswerPromise<Page> implements List<Item, unknown, Page> {
  readonly #target: Target;
  readonly #request: RequestMembers;
  readonly #ask: AskPage<Page>;
  readonly #signal: AbortSignal | undefined;

  constructor(target: Target, request: RequestMembers, ask: AskPage<Page>, signal: AbortSignal | undefined) {
    super(ask(request));
    this.#target = target;
    this.#request = request;
    this.#ask = ask;
    this.#signal = signal;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    let request: RequestMembers | undefined = this.#request;
    const cursors = new Set<unknown>([request['cursor']]);
    let page = await this.response();
    for (;;) {
      const items = itemsOf(this.#target, page.data) as Item[];
      for (const item of items) {
        this.#throwIfAborted();
        yield item;
      }
      const cursor = cursorOf(this.#target, page);
      if (cursor && cursors.has(cursor)) throw broken(this.#target, 'the list does not advance');
      cursors.add(cursor);
      request = cursor
        ? after(request, { cursor })
        : nextByOffset(this.#target, request, page.data, items.length);
      if (request === undefined) return;
      page = await this.#ask(request);
    }
  }

  /** After an abort, the remaining items of a page that has arrived are not delivered either. */
  #throwIfAborted(): void {
    if (this.#signal?.aborted) throw aborted(this.#target.name, this.#signal.reason);
  }
}

function itemsOf(target: Target, page: unknown): unknown[] {
  const items = target.operation.items === undefined ? page : memberOf(page, target.operation.items);
  if (!Array.isArray(items)) throw broken(target, 'the answer is not a list');
  return items;
}

/** Null, empty and absent all mean that this was the last page. */
function cursorOf({ operation }: Target, { data, response }: Raw<unknown>): unknown {
  return operation.cursor === undefined
    ? response.headers.get('X-Next-Cursor')
    : memberOf(data, operation.cursor);
}

/** Returns the request for the page after one without a cursor, or undefined after the last page. */
function nextByOffset(
  { operation }: Target,
  request: RequestMembers,
  page: unknown,
  length: number,
): RequestMembers | undefined {
  if (operation.pages !== 'offset' || length === 0) return undefined;
  const follow =
    operation.more === undefined
      ? length >= Number(request['limit'] ?? 0)
      : memberOf(page, operation.more) === true;
  return follow ? after(request, { offset: Number(request['offset'] ?? 0) + length }) : undefined;
}

/** Returns the same filters with another position. */
const after = ({ offset: _, ...filters }: RequestMembers, place: RequestMembers): RequestMembers => ({
  ...filters,
  ...place,
});

/** Returns the value at a path such as `pagination.has_more`. */
const memberOf = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce((holder, name) => (holder as Record<string, unknown> | null | undefined)?.[name], value);

const broken = ({ name }: Target, problem: string): PlinthError =>
  new PlinthError({ kind: 'protocol', operation: name, message: `${name}: ${problem}` });
