import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Vault } from '../../../../generated/safety/server.ts';
import type { EraseRequest, EraseResult } from '../../../../generated/safety/types.ts';
import { UnitOfWork } from '../../../db/write.ts';
import type { Context } from '../../../http/context.ts';
import { Invalid } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import type { Lines } from '../lines.ts';
import { open } from './cryptography.ts';
import { keyOf, type TenantKeys } from './keys.ts';
import { keyStore } from './keys.store.ts';
import { restored, tokensIn } from './restoration.ts';
import { tokenStore } from './tokens.store.ts';

/** So few that opening them takes a few milliseconds. */
const openedPerTurn = 200;

/** The most characters of a restored text. */
const mostRestored = 20_971_520;

interface VaultDeps extends Pick<Deps, 'db' | 'changes'> {
  readonly keys: TenantKeys;
  readonly lines: Lines;
}

/** Restores originals, and erases them. */
export function vault({ db, changes, keys, lines }: VaultDeps) {
  return {
    async restore({ body: { text } }, context) {
      const { tenant } = context;
      const result = await restored(text, await originalsOf(tenant, await tokensIn(text)), mostRestored);
      if (result === undefined)
        throw Invalid(`text: its originals have more than ${mostRestored} characters`);
      if (result.restored > 0)
        await db.transaction(async (sql) => {
          const unit = new UnitOfWork(sql, context, 'safety');
          unit.emit('safety.vault.restored', tenant, { restored: result.restored });
          await unit.settle({});
        });
      return result;
    },

    async erase({ body }, context) {
      const erase = erasure(body);
      return await lines.run(`vault ${context.tenant}`, () =>
        db.transaction(async (sql): Promise<EraseResult> => {
          const unit = new UnitOfWork(sql, context, 'safety');
          // From here on no scan stores an original of this tenant, so that none slips through.
          const key = await keyStore(sql).lock(context.tenant);
          const erased = key === undefined ? 0 : await erase(tokenStore(sql), context.tenant, key);
          if (key !== undefined && body.all === true) {
            await keyStore(sql).destroy(context.tenant, key);
            unit.changed(keyOf(context.tenant));
          }
          unit.emit('safety.vault.erased', context.tenant, { ...body, erased });
          await unit.settle({ log: changes });
          return { erased };
        }),
      );
    },
  } satisfies Vault<Context>;

  /** The key is read from the database in any case: a destroyed one restores nothing, whatever this process remembers. */
  async function originalsOf(tenant: string, tokens: readonly string[]): Promise<Map<string, string>> {
    if (tokens.length === 0) return new Map();
    const [[row], found] = await Promise.all([
      keyStore(db.sql).living([tenant]),
      tokenStore(db.sql).find(tenant, tokens),
    ]);
    if (row === undefined) return new Map();
    const key = keys.opened(row);
    const originals = new Map<string, string>();
    for (const [at, { token, key_id, name, sealed }] of found.entries()) {
      if (at % openedPerTurn === openedPerTurn - 1) await nextTurn();
      if (key_id === key.id) originals.set(token, open(key.keys, { tenant, token, name }, sealed));
    }
    return originals;
  }
}

type Erase = (store: ReturnType<typeof tokenStore>, tenant: string, key: string) => Promise<number>;

/** @throws Invalid unless exactly one member says what to erase */
function erasure({ scan_id, user_id, all }: EraseRequest): Erase {
  if ([scan_id, user_id, all].filter((member) => member !== undefined).length !== 1)
    throw Invalid('body: exactly one of scan_id, user_id and all');
  if (scan_id !== undefined) return (store, tenant) => store.erase(tenant, { scan: scan_id });
  if (user_id !== undefined) return (store, tenant) => store.erase(tenant, { user: user_id });
  return (store, tenant, key) => store.count(tenant, key);
}
