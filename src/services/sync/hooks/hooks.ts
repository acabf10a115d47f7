import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import type { Change, ChangeInput } from '../../../../generated/sync/types.ts';
import { canonical } from '../../../../sdk/src/sync/canonical.ts';
import { Internal, Unavailable } from '../../../lib/errors.ts';
import { ChangeRejected } from '../errors.ts';
import type { Dataset } from '../dataset.ts';

/** For whom a hook is called. */
export interface SyncContext {
  readonly tenantId: string;
  readonly appId: string;
  readonly subject: string;
  readonly nodeId: string | null;
  readonly via: 'push' | 'pull' | 'stream';
}

/** What an operator's module exports as its default, alone or in an array: then the output of one is the input of the next. */
export interface SyncHooks {
  /**
   * Returns the change, perhaps with another value or another element to add; everything else must stay as it is. An error named
   * `Rejected` refuses the whole push with its message.
   */
  beforeInboundChange?(change: ChangeInput, context: SyncContext): ChangeInput | Promise<ChangeInput>;
  /** Called after the commit. An error is logged. */
  afterInboundChange?(change: ChangeInput, context: SyncContext): void | Promise<void>;
  /** Returns the change to send, or null to withhold it. */
  beforeOutboundChange?(change: Change, context: SyncContext): Change | null | Promise<Change | null>;
  /** Called for each page, before the changes are looked at one by one. */
  beforeOutboundRead?(batch: Change[], context: SyncContext): Change[] | Promise<Change[]>;
}

export interface Hooks {
  readonly seesOutbound: boolean;
  /** Returns the changes as they are to be stored, in the same order; one that was not replaced is the same object. */
  inbound(changes: readonly ChangeInput[], context: SyncContext): Promise<readonly ChangeInput[]>;
  stored(changes: readonly ChangeInput[], context: SyncContext): Promise<void>;
  outbound(changes: Change[], context: SyncContext): Promise<Change[]>;
}

export const contextOf = (
  { tenant, app }: Dataset,
  rest: Pick<SyncContext, 'subject' | 'nodeId' | 'via'>,
): SyncContext => ({ tenantId: tenant, appId: app, ...rest });

/** Milliseconds that a hook has for a call, and all of them for a request. */
const callMs = 5_000;
const requestMs = 30_000;

/** Loads the hooks of a module; without a path there are none. */
export async function loadHooks(path: string, log: Logger): Promise<Hooks> {
  if (path === '') return createHooks([], log);
  const { default: given } = (await import(pathToFileURL(resolve(path)).href)) as {
    default?: SyncHooks | SyncHooks[];
  };
  const chain = Array.isArray(given) ? given : [given];
  if (!chain.every(isHooks))
    throw new TypeError(`PLINTH_SYNC_HOOKS: ${path} has no default export with hooks`);
  return createHooks(chain, log);
}

const hookNames = [
  'beforeInboundChange',
  'afterInboundChange',
  'beforeOutboundChange',
  'beforeOutboundRead',
] as const satisfies readonly (keyof SyncHooks)[];

const isHooks = (given: SyncHooks | undefined): given is SyncHooks =>
  typeof given === 'object' && hookNames.some((name) => typeof given[name] === 'function');

export function createHooks(chain: readonly SyncHooks[], log: Logger): Hooks {
  const isCalled = (name: keyof SyncHooks) => chain.some((hooks) => hooks[name] !== undefined);
  const inbound = isCalled('beforeInboundChange');
  const after = isCalled('afterInboundChange');
  const seesOutbound = isCalled('beforeOutboundChange') || isCalled('beforeOutboundRead');

  return {
    seesOutbound,

    async inbound(changes, context) {
      if (!inbound) return changes;
      const limited = timeLimit();
      const stored: ChangeInput[] = [];
      for (const change of changes) {
        let current = change;
        for (const hooks of chain) {
          const given = structuredClone(current);
          const returned = await limited(() => hooks.beforeInboundChange?.(given, context) ?? given);
          current = replacementOf(current, returned);
        }
        stored.push(current);
      }
      return stored;
    },

    async stored(changes, context) {
      if (!after) return;
      const limited = timeLimit();
      for (const change of changes)
        for (const hooks of chain)
          await limited(() => hooks.afterInboundChange?.(structuredClone(change), context)).catch(
            (error: unknown) => log.error({ err: error }, 'a hook failed after a change was stored'),
          );
    },

    async outbound(changes, context) {
      const limited = timeLimit();
      let page = changes;
      for (const hooks of chain) {
        page = (await limited(() => hooks.beforeOutboundRead?.(page, context))) ?? page;
        if (hooks.beforeOutboundChange === undefined) continue;
        const kept: Change[] = [];
        for (const change of page) {
          const sent = await limited(() => hooks.beforeOutboundChange!(change, context));
          if (sent !== null) kept.push(sent);
        }
        page = kept;
      }
      return page;
    },
  };
}

/** The change as a hook returned it; the same object if it says the same. Only what a reader merges alike everywhere may differ. */
function replacementOf(change: ChangeInput, returned: ChangeInput): ChangeInput {
  if (canonical(returned) === canonical(change)) return change;
  const isRegister = change.crdt_type === 'lww' && !change.tombstone;
  const isAdd = change.crdt_type === 'set' && change.set_op?.op === 'add' && !change.tombstone;
  const allowed: ChangeInput | undefined = isRegister
    ? { ...change, value: returned.value }
    : isAdd
      ? { ...change, set_op: { op: 'add', element: returned.set_op?.element } }
      : undefined;
  if (allowed === undefined || canonical(withoutUnset(returned)) !== canonical(withoutUnset(allowed)))
    throw Internal(new TypeError('a hook replaced more than a value or an added element'));
  return returned;
}

/** Members that are undefined are not there. */
const withoutUnset = (change: ChangeInput): unknown => JSON.parse(JSON.stringify(change));

/** Limits the time of the calls for one request. */
function timeLimit() {
  const until = performance.now() + requestMs;
  return async <T>(call: () => T | Promise<T>): Promise<T> => {
    const ms = Math.min(callMs, until - performance.now());
    if (ms <= 0) throw tooSlow();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(tooSlow()), ms);
    });
    try {
      return await Promise.race([late, Promise.resolve().then(call)]);
    } catch (error) {
      if (error instanceof Error && error.name === 'Rejected') throw ChangeRejected(error.message);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}

const tooSlow = () => Unavailable('a hook of the server did not answer in time');
