import type { Keys } from '../../../generated/keys/server.ts';
import type { Changes } from '../../db/changes.ts';
import type { Database } from '../../db/index.ts';
import { changesSince } from '../../http/change-stream.ts';
import type { Context } from '../../http/context.ts';
import { Unauthenticated } from '../../lib/errors.ts';
import { type IssuanceRules, issueKey, rotateKey } from './issuance.ts';
import { changeKey, deleteKey, endGrace, reactivateKey, revokeKey, suspendKey } from './key-changes.ts';
import { assignScopes, removeScopes } from './key-scopes.ts';
import { keyStore } from './keys.store.ts';
import { answerPage, windowOf } from '../../http/lists.ts';
import { rotationStore } from './rotations.store.ts';
import type { Validator } from './validation/validator.ts';
import type { ChangeKind, Writer } from './writes.ts';

export interface Deps {
  readonly db: Database;
  readonly write: Writer;
  readonly changes: Changes;
  readonly validator: Validator;
  readonly rules: IssuanceRules;
}

/** Keys: credentials of the tenant, their raw keys and their scopes. */
export const keys = ({ db, write, changes, validator, rules }: Deps) =>
  ({
    async create({ body }, context) {
      const issued = await write(context, (keyWrite) => issueKey(keyWrite, body, rules));
      context.reply.header('Cache-Control', 'no-store');
      return issued;
    },

    async list(request, { tenant, reply }) {
      const window = windowOf(request);
      const found = await keyStore(db.sql).list(tenant, request, window);
      return answerPage(reply, window, found);
    },

    get: ({ keyId }, { tenant }) => keyStore(db.sql).get(tenant, keyId),

    update: ({ keyId, body }, context) => write(context, (keyWrite) => changeKey(keyWrite, keyId, body)),

    delete: ({ keyId }, context) => write(context, (keyWrite) => deleteKey(keyWrite, keyId)),

    validate: ({ body }, context) => validator.validate(body, context),

    async rotate({ keyId, body }, context) {
      const rotated = await write(context, (keyWrite) =>
        rotateKey(keyWrite, keyId, { reason: 'manual', ...body }),
      );
      context.reply.header('Cache-Control', 'no-store');
      return rotated;
    },

    revoke: ({ keyId, body }, context) =>
      write(context, (keyWrite) => revokeKey(keyWrite, keyId, body?.reason ?? null)),

    suspend: ({ keyId }, context) => write(context, (keyWrite) => suspendKey(keyWrite, keyId)),

    reactivate: ({ keyId }, context) => write(context, (keyWrite) => reactivateKey(keyWrite, keyId)),

    endGrace: ({ keyId }, context) => write(context, (keyWrite) => endGrace(keyWrite, keyId)),

    assignScopes: ({ keyId, body }, context) =>
      write(context, (keyWrite) => assignScopes(keyWrite, keyId, body.scopes, rules.strictScopes)),

    removeScopes: ({ keyId, body }, context) =>
      write(context, (keyWrite) => removeScopes(keyWrite, keyId, body.scopes)),

    async rotations({ keyId, ...request }, { tenant, reply }) {
      await keyStore(db.sql).get(tenant, keyId);
      const window = windowOf(request);
      const found = await rotationStore(db.sql).list(tenant, keyId, window);
      return answerPage(reply, window, found);
    },

    async whoami(_, { tenant, credential }) {
      const key = await keyStore(db.sql).find(tenant, credential.id);
      // The key was deleted after the request was authenticated: it is a dead key like any other.
      if (key === undefined) throw Unauthenticated();
      return { ...key, rate_limit: await validator.rateLimit(key) };
    },

    // Only `createWriter` writes changes, and the table accepts no other kinds.
    changes: ({ 'Last-Event-ID': last }) =>
      changesSince(changes, last, ({ seq, kind, id }) => ({ seq, kind: kind as ChangeKind, id })),
  }) satisfies Keys<Context>;
