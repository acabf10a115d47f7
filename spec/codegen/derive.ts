/** Everything derived from the TypeSpec: the documents as compiled, and the files generated from them. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseService, type ServiceContract } from './contract.ts';
import { interfaces } from './interfaces.ts';
import { operationsTable } from './operations.ts';
import { inReadingOrder } from './reading-order.ts';
import { sdkFiles } from './sdk.ts';
import { types } from './types.ts';
import { validators } from './validators.ts';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** Folders that contain only the results of `derive`. */
export const outputs = ['tsp-output/openapi', 'generated', 'sdk/src/services', 'sdk/docs'];

/** Returns every derived file as path relative to the root → text. Compiler warnings and violations of the house rules are errors. */
export async function derive(): Promise<Map<string, string>> {
  const documents = await compile();
  const contract = [...documents].map(([file, text]) => parseService(file.replace(/\.json$/, ''), text));
  return new Map([
    ...[...documents].map(([file, text]) => [`tsp-output/openapi/${file}`, text] as const),
    ...(await Promise.all(contract.map(serverFiles))).flat(),
    ['generated/operations.ts', operationsTable(contract)],
    ...(await sdkFiles(contract)),
  ]);
}

/** Compiles the documents: file name → document, in alphabetical order, their resources in the order for readers. */
async function compile(): Promise<Map<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-spec-'));
  const compiler = join(root, 'node_modules/@typespec/compiler/cmd/tsp.js');
  const output = `@typespec/openapi3.emitter-output-dir=${folder}`;
  try {
    await promisify(execFile)(
      process.execPath,
      [compiler, 'compile', 'spec', '--warn-as-error', '--option', output],
      { cwd: root },
    );
    const files = (await readdir(folder)).sort();
    return new Map(
      await Promise.all(
        files.map(async (file) => {
          const text = await readFile(join(folder, file), 'utf8');
          return [file, inReadingOrder(file.replace(/\.json$/, ''), text)] as const;
        }),
      ),
    );
  } catch (error) {
    throw new Error((error as { stdout?: string }).stdout ?? String(error), { cause: error });
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function serverFiles(service: ServiceContract): Promise<[string, string][]> {
  const folder = `generated/${service.name}`;
  return [
    [`${folder}/types.ts`, await types(service, { filled: true })],
    [`${folder}/server.ts`, interfaces(service)],
    ...validators(service).map(([path, code]): [string, string] => [`${folder}/${path}`, code]),
  ];
}
