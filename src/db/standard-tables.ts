import { readFile } from 'node:fs/promises';

/** The tables that work alike in every service, by the name of their file, and the name of the table that each file creates. */
const standardTables = {
  outbox: 'outbox',
  changes: 'changes',
  detailed_changes: 'changes',
} as const;

type StandardTable = keyof typeof standardTables;

/** The statements that create one standard table in the schema of a service. */
export interface StandardFile {
  /** Sorts before the service's own files, which may refer to the table. */
  readonly id: `0000_${string}`;
  readonly text: string;
}

/** The file in a folder of migrations that names the standard tables of the service, as a JSON array. */
export const declarationFile = 'standard-tables.json';

/**
 * The statements for the standard tables that a service declares. The first migrations of `auth`, `authz` and `keys` create theirs
 * themselves, and migrations that have landed never change: a table that one of the service's own files creates is left to it.
 * Throws a `TypeError` for a declaration that names anything else.
 */
export async function standardFiles(
  schema: string,
  declared: unknown,
  own: readonly { readonly text: string }[],
): Promise<StandardFile[]> {
  if (!Array.isArray(declared) || !declared.every(isStandardTable))
    throw new TypeError(
      `${schema}/${declarationFile}: must be an array of ${Object.keys(standardTables).join(', ')}`,
    );
  const isOwn = (table: StandardTable) =>
    own.some(({ text }) => text.includes(`create table ${schema}.${standardTables[table]} (`));
  return Promise.all(
    declared
      .filter((table) => !isOwn(table))
      .map(async (table) => ({ id: `0000_${table}` as const, text: await textOf(schema, table) })),
  );
}

/** Whether a migration creates a standard table. Such a migration depends on no other, so it may be added later than others. */
export const isStandard = ({ id }: { readonly id: string }): boolean => id.startsWith('0000_');

const isStandardTable = (name: unknown): name is StandardTable =>
  typeof name === 'string' && Object.hasOwn(standardTables, name);

/** The files are written for a schema called `service`. */
async function textOf(schema: string, table: StandardTable): Promise<string> {
  const text = await readFile(new URL(`./standard-tables/${table}.sql`, import.meta.url), 'utf8');
  return text.replaceAll('\r\n', '\n').replaceAll(/\bservice\.(?=outbox|changes)/g, `"${schema}".`);
}
