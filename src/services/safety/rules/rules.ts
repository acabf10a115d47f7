import type { Context } from '../../../http/context.ts';
import { answerPage, type PageRequest, windowOf } from '../../../http/lists.ts';
import { Invalid, NotFound } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { type Added, appStore } from '../apps.store.ts';
import type { Deps } from '../deps.ts';
import { BuiltIn, InUse, LimitReached, NameTaken } from '../errors.ts';
import { limitNames, mostContents, mostOf, nothing, type RuleKind, type Weight } from '../limits.ts';
import type { Write } from '../writes.ts';
import { checkRule } from './checks.ts';
import { contentsOf, weigh } from './contents.ts';
import type { Kind, Records, RuleRecord } from './kinds.ts';
import { namesAskedFor, namesOfFindings } from './names.ts';
import { type Body, referencesIn, withIds, withNames } from './references.ts';
import { type NewRule, type RuleRow, ruleStore } from './rules.store.ts';

interface Given {
  readonly name: string;
  readonly enabled: boolean;
}

interface ListRequest extends PageRequest {
  readonly enabled?: boolean | undefined;
  readonly inForceIn?: string | undefined;
  readonly builtin: boolean;
}

/** What a handler of any kind needs to know of a request; the contract has checked the rest. */
interface Shapes<K extends RuleKind> {
  create: (request: { body: object }, context: Context) => Promise<Records[K]>;
  get: (request: { id: string }, context: Pick<Context, 'app'>) => Promise<Records[K]>;
  update: (request: { id: string; body: object }, context: Context) => Promise<Records[K]>;
  delete: (request: { id: string }, context: Context) => Promise<void>;
  list: (
    request: ListRequest,
    facet: string | undefined,
    context: Pick<Context, 'app' | 'reply'>,
  ) => Promise<Records[K][]>;
}

/** The handlers of one kind of rule: primitives, profiles and policies are made, read, changed and deleted alike. */
export function rules<K extends RuleKind>({ db, write }: Pick<Deps, 'db' | 'write'>, of: Kind<K>): Shapes<K> {
  const { kind, prefix, builtin } = of;
  const builtIn = new Map(builtin.map((record) => [record.id, record]));

  return {
    async create({ body: sent }, context) {
      const given = checkedName(sent);
      const weight = await checked(kind, given);
      return await write(context, async (tx) => {
        await reserve(tx, { [kind]: 1, ...weight });
        const rule = { ...(await storable(tx, of, given)), ...weight, id: newId(prefix) };
        if (!(await ruleStore(tx.sql).insert(rule))) throw NameTaken(kind, given.name);
        return await announced(tx, 'created', rule.id);
      });
    },

    async list({ builtin: wantsBuiltin, ...request }, facet, { app, reply }) {
      const window = windowOf(request);
      const { enabled, inForceIn } = request;
      if (wantsBuiltin) return await builtinPage(request, enabled, facet);
      const { rows, cut } = await ruleStore(db.sql).list(app, kind, { enabled, facet, inForceIn }, window);
      return await shown(db.sql, app, answerPage(reply, window, rows, cut));
    },

    get: async ({ id }, { app }) => builtIn.get(id) ?? (await get(db.sql, app, id)),

    async update({ id, body: sent }, context) {
      if (builtIn.has(id)) throw BuiltIn(kind);
      const changes = 'name' in sent ? checkedName(sent) : sent;
      // Weighing may take long, so it is done before the lock, and again only if someone else has changed the rule meanwhile.
      const before = await get(db.sql, context.app, id);
      const weighed = await checked(kind, { ...before, ...changes }, changes);
      return await write(context, async (tx) => {
        const { sql, app } = tx;
        const old = await found(sql, app, id);
        const given = { ...(await shown(sql, app, [old]))[0]!, ...changes } as Given & object;
        const weight = old.revision === before.revision ? weighed : await checked(kind, given, changes);
        const kept = new Set(namesOfFindings({ kind, name: given.name, body: bodyOf(given) }));
        await checkUnasked(
          tx,
          namesOfFindings(old).filter((name) => !kept.has(name)),
          id,
        );
        await reserve(tx, difference(weight, old));
        if (await ruleStore(sql).isTaken(app, kind, given.name, id)) throw NameTaken(kind, given.name);
        await ruleStore(sql).replace({ ...(await storable(tx, of, given)), ...weight, id });
        return await announced(tx, 'updated', id);
      });
    },

    async delete({ id }, context) {
      if (builtIn.has(id)) throw BuiltIn(kind);
      await write(context, async (tx) => {
        const { sql, app } = tx;
        const old = await found(sql, app, id);
        const user = await ruleStore(sql).user(app, id);
        if (user !== undefined) throw InUse(user.kind, user.name);
        await checkUnasked(tx, namesOfFindings(old), id);
        await ruleStore(sql).delete(app, id);
        await reserve(tx, { [kind]: -1, ...difference(nothing, old) });
        tx.emit(`safety.${kind}.deleted`, id, { id, name: old.name });
      });
    },
  };

  async function announced(tx: Write, verb: 'created' | 'updated', id: string): Promise<Records[K]> {
    const record = await get(tx.sql, tx.app, id);
    tx.emit(`safety.${kind}.${verb}`, id, record);
    return record;
  }

  async function found(sql: Write['sql'], app: string, id: string): Promise<RuleRow> {
    const row = await ruleStore(sql).find(app, kind, id);
    if (row === undefined) throw NotFound(kind);
    return row;
  }

  async function get(sql: Write['sql'], app: string, id: string): Promise<Records[K]> {
    const [record] = await shown(sql, app, [await found(sql, app, id)]);
    return record!;
  }

  /** Records of rows, with the names that other rules have now. */
  async function shown(sql: Write['sql'], app: string, rows: readonly RuleRow[]): Promise<Records[K][]> {
    const known = await ruleStore(sql).named(app, [...new Set(rows.flatMap(({ refs }) => refs))]);
    return rows.map(
      (row) => recordOf(row, { ...of.added, ...withNames(kind, row.body, known) }) as unknown as Records[K],
    );
  }

  /** A page of the built-in ones, which are few and never change: their order is that of the release, newest last. */
  async function builtinPage(request: PageRequest, enabled: boolean | undefined, facet: string | undefined) {
    if (request.cursor !== undefined) throw Invalid('cursor: the list of built-in ones has one page');
    const listed = builtin.filter(
      (record) =>
        (enabled === undefined || record.enabled === enabled) &&
        (facet === undefined || of.facets(record).includes(facet)),
    );
    const offset = request.offset ?? 0;
    return Promise.resolve(listed.toReversed().slice(offset, offset + request.limit));
  }
}

/** Names of findings that go away must not be those that a policy or another reflex waits for. @throws Conflict */
async function checkUnasked({ sql, app }: Write, names: readonly string[], id: string): Promise<void> {
  if (names.length === 0) return;
  const gone = new Set(names);
  const users = await ruleStore(sql).mentioning(app, names, id);
  const user = users.find((rule) => namesAskedFor(rule).some((name) => gone.has(name)));
  if (user !== undefined) throw InUse(user.kind, user.name);
}

/** The name as it is kept. @throws Invalid for one that is reserved */
function checkedName(sent: object): Given {
  const given = sent as Given;
  const name = given.name.trim();
  if (name.startsWith('builtin/')) throw Invalid('name: must not begin with builtin/');
  return { ...given, name };
}

/** Checks a rule as a whole, and weighs it. */
async function checked(kind: RuleKind, given: object, changes = given): Promise<Weight> {
  const body = bodyOf(given);
  checkRule(kind, body, bodyOf(changes));
  return await weigh(contentsOf(kind, body));
}

const shared = new Set(['id', 'app_id', 'name', 'enabled', 'revision', 'created_at', 'updated_at']);

/** What is of the rule's kind. */
const bodyOf = (given: object): Body =>
  Object.fromEntries(Object.entries(given).filter(([name]) => !shared.has(name)));

/** The columns of a rule apart from its id and its weight. */
async function storable<K extends RuleKind>(
  { sql, app, revision }: Write,
  { kind, facets }: Kind<K>,
  given: Given & object,
): Promise<Omit<NewRule, 'id' | keyof Weight>> {
  const own = bodyOf(given);
  const { body, refs } = withIds(kind, own, await ruleStore(sql).byNames(app, referencesIn(kind, own)));
  const listed = facets(own as never);
  return {
    app_id: app,
    kind,
    name: given.name,
    enabled: given.enabled,
    facets: listed,
    refs,
    body,
    revision,
  };
}

/** @throws Conflict when the app may not have that much more */
async function reserve({ sql, app }: Write, added: Added): Promise<void> {
  const [first] = await appStore(sql).reserve(app, added);
  if (first !== undefined) throw LimitReached({ ...mostOf, ...mostContents }[first], limitNames[first]);
}

const difference = (after: Weight, before: Weight): Added => ({
  keywords: after.keywords - before.keywords,
  expressions: after.expressions - before.expressions,
  instructions: after.instructions - before.instructions,
});

const recordOf = (row: RuleRow, body: Body): RuleRecord => ({
  id: row.id,
  app_id: row.app_id,
  name: row.name,
  enabled: row.enabled,
  ...body,
  revision: row.revision,
  created_at: row.created_at,
  updated_at: row.updated_at,
});
