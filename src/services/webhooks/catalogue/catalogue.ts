import { LRUCache } from 'lru-cache';
import { batchedReads } from '../../../db/batched-reads.ts';
import type { Database } from '../../../db/index.ts';
import { DataRefused, EventTypeDeprecated, EventTypeNotFound } from '../errors.ts';
import { compileSchema, type DataValidator } from './data-validator.ts';
import { eventTypeStore, type JudgedType } from './event-types.store.ts';

/** What an event says about itself. */
export interface JudgedEvent {
  readonly app: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What the processes know of event types. The statement that stores an event finds out whether it was outdated. */
export interface Catalogue {
  /**
   * Checks that the type takes events, and these data, and returns the hash of the schema that they satisfy; null without a schema.
   * What a process remembers never refuses an event: the type is read again first.
   * @throws the refusal
   */
  judge(event: JudgedEvent): Promise<string | null>;
  /** Forgets what it knows of the type of an event. */
  forget(event: Pick<JudgedEvent, 'app' | 'type'>): void;
}

const mostTypes = 10_000;
const mostValidators = 1_000;

export function createCatalogue({ db }: { readonly db: Pick<Database, 'sql'> }): Catalogue {
  const types = new LRUCache<string, JudgedType>({ max: mostTypes });
  const validators = new LRUCache<string, DataValidator>({ max: mostValidators });
  const read = batchedReads(
    async (keys: readonly JudgedEvent[]) => {
      const found = await eventTypeStore(db.sql).judged(
        keys.map(({ app }) => app),
        keys.map(({ type }) => type),
      );
      return new Map(found.map((type) => [nameOf({ app: type.app_id, type: type.name }), type]));
    },
    (event) => nameOf(event),
  );

  async function validatorOf({ app, type }: JudgedEvent, hash: string): Promise<DataValidator | undefined> {
    const name = `${nameOf({ app, type })}\n${hash}`;
    const known = validators.get(name);
    if (known !== undefined) return known;
    const schema = await eventTypeStore(db.sql).schema(app, type, hash);
    if (schema === undefined) return undefined;
    const validator = compileSchema(schema);
    validators.set(name, validator);
    return validator;
  }

  /** The refusal, or undefined; `gone` when the schema has changed since the type was read. */
  async function verdict(event: JudgedEvent, type: JudgedType): Promise<Error | 'gone' | undefined> {
    if (type.deprecated) return EventTypeDeprecated(event.type);
    if (type.schema_hash === null) return undefined;
    const validator = await validatorOf(event, type.schema_hash);
    if (validator === undefined) return 'gone';
    const violation = validator(event.data);
    return violation === undefined ? undefined : DataRefused(event.type, violation);
  }

  return {
    async judge(event) {
      const name = nameOf(event);
      const known = types.get(name);
      let refusal = known && (await verdict(event, known));
      if (known !== undefined && refusal === undefined) return known.schema_hash;
      for (let judged = known; ;) {
        const type = await read(event);
        if (type === undefined) throw EventTypeNotFound(event.type);
        const isNews = judged?.schema_hash !== type.schema_hash || judged.deprecated !== type.deprecated;
        if (isNews) refusal = await verdict(event, type);
        types.set(name, type);
        if (refusal === undefined) return type.schema_hash;
        if (refusal !== 'gone') throw refusal;
        judged = undefined;
      }
    },
    forget: (event) => {
      types.delete(nameOf(event));
    },
  };
}

const nameOf = ({ app, type }: Pick<JudgedEvent, 'app' | 'type'>) => `${app}\n${type}`;
