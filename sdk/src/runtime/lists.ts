import { AnswerPromise, type List, type Raw } from './answer.ts';
import { aborted, PlinthError } from './errors.ts';
import type { RequestMembers, Target } from './operation.ts';

type AskPage<Item> = (request: RequestMembers) => Promise<Raw<Item[]>>;

/** A list whose first page is asked for at once and whose other pages follow as they are walked into. */
export class PagedList<Item> extends AnswerPromise<Item[]> implements List<Item> {
  readonly #target: Target;
  readonly #request: RequestMembers;
  readonly #ask: AskPage<Item>;
  readonly #signal: AbortSignal | undefined;

  constructor(target: Target, request: RequestMembers, ask: AskPage<Item>, signal: AbortSignal | undefined) {
    super(ask(request));
    this.#target = target;
    this.#request = request;
    this.#ask = ask;
    this.#signal = signal;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    const { name, operation } = this.#target;
    let request: RequestMembers | undefined = this.#request;
    let page = await this.response();
    for (;;) {
      for (const item of page.data) {
        this.#throwIfAborted();
        yield item;
      }
      request = nextPage(name, operation.pages, request, page);
      if (request === undefined) return;
      page = await this.#ask(request);
    }
  }

  /** The items of a page that has arrived are no longer wanted either. */
  #throwIfAborted(): void {
    if (this.#signal?.aborted) throw aborted(this.#target.name, this.#signal.reason);
  }
}

/** The request for the page after this one; undefined after the last. */
function nextPage(
  name: string,
  pages: 'cursor' | 'offset' | undefined,
  request: RequestMembers,
  { data, response }: Raw<unknown[]>,
): RequestMembers | undefined {
  const cursor = response.headers.get('X-Next-Cursor');
  const { offset, ...filters } = request;
  if (cursor !== null) {
    if (cursor !== request['cursor']) return { ...filters, cursor };
    throw new PlinthError({
      kind: 'protocol',
      operation: name,
      message: `${name}: the list does not advance`,
    });
  }
  if (pages !== 'offset' || data.length === 0 || data.length < Number(request['limit'] ?? 0))
    return undefined;
  return { ...filters, offset: Number(offset ?? 0) + data.length };
}
