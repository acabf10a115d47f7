/** Compresses files once, so that the server compresses nothing while it answers. */
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const worthwhile = /\.(css|html|js|json|svg|txt|xml)$/;

/** Shorter files fit into one packet as they are. */
const shortest = 1_000;

/** Writes `file.br` and `file.gz` beside each file that becomes smaller. */
export async function compressAll(files: readonly string[]): Promise<void> {
  const waiting = files.filter((file) => worthwhile.test(file));
  const worker = async () => {
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) await compress(file);
  };
  await Promise.all(Array.from({ length: 4 }, worker));
}

async function compress(file: string): Promise<void> {
  const content = await readFile(file);
  if (content.length < shortest) return;
  // The highest quality takes ten times as long for the last few percent.
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 9,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  };
  await Promise.all([
    writeFile(`${file}.br`, await promisify(brotliCompress)(content, { params })),
    writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 })),
  ]);
}
