import { readFile } from 'node:fs/promises';

/** The tables that work alike in every service: the name of each, and the files that create it, one for each version. */
const standardTables = {
  outbox: { table: 'outbox', files: ['outbox', 'outbox_requests'] },
  changes: { table: 'changes', files: ['changes'] },
  detailed_changes: { table: 'changes', files: ['detailed_changes'] },
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
 * themselves, and migrations that have landed never change: a table that one of the service's own files creates is left to it, in all its
 * versions.
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
    own.some(({ text }) => text.includes(`create table ${schema}.${standardTables[table].table} (`));
  return Promise.all(
    declared
      .filter((table) => !isOwn(table))
      .flatMap((table) => standardTables[table].files)
      .map(async (file) => ({ id: `0000_${file}` as const, text: await textOf(schema, file) })),
  );
}

/** Whether a migration creates a standard table. Such a migration depends on no other, so it may be added later than others. */
export const isStandard = ({ id }: { readonly id: string }): boolean => id.startsWith('0000_');

const isStandardTable = (name: unknown): name is StandardTable =>
  typeof name === 'string' && Object.hasOwn(standardTables, name);

/** The files are written for a schema called `service`. */
async function textOf(schema: string, file: string): Promise<string> {
  const text = await readFile(new URL(`./standard-tables/${file}.sql`, import.meta.url), 'utf8');
  return text.replaceAll('\r\n', '\n').replaceAll(/\bservice\.(?=outbox|changes)/g, `"${schema}".`);
}
