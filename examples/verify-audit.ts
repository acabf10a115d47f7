/**
 * Verifies an exported stream without the server and without any code of it: `node examples/verify-audit.ts export.ndjson`. A number and a
 * hash that were noted earlier (`12:9f86…`) show as well whether the whole stream was replaced, or its end cut off.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

type Line = { sequence: number; hash: string; run_id: string | null; actor: string; content: string } & {
  record: (Record<string, unknown> & { prev_hash: string }) | null;
};
type Run = { run_id: string; count: number; first_sequence: number; digest: string };

const [file = '/dev/stdin', ...noted] = process.argv.slice(2);
const sha256 = (...parts: (string | Buffer)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');
/** The members are strings, whole numbers and null: sorting them is all that canonical JSON (RFC 8785) asks for. */
const hashOf = (record: object) =>
  sha256(
    '\0',
    JSON.stringify(Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))),
  );

const faults: string[] = [];
const notes = new Map(noted.map((note) => note.split(':') as [string, string]));
/** The runs of the retention: what the chain tells of each, and what each left. */
const runs = new Map<string, { told?: Run; count: number; left: ReturnType<typeof createHash> }>();
const runOf = (id: string) => runs.get(id) ?? runs.set(id, { count: 0, left: createHash('sha256') }).get(id)!;
let [first, last, purged, head] = [0, 0, 0, '0'.repeat(64)];
let stream: unknown;
/** The hashes that the next record may name. After a changed line that is its hash as it is, or as it should be. */
let links = [head];

function check({ sequence, hash, record, run_id, ...parts }: Line): void {
  const isFirst = first === 0;
  const isNext = sequence === last + 1;
  if (!isFirst && !isNext)
    faults.push(
      sequence <= last ? `${sequence}: is not in order` : `${last + 1} to ${sequence - 1}: missing`,
    );
  if (!isNext) links = record ? [record.prev_hash] : []; // What stood before is not known.
  [first, last, head] = [first || sequence, sequence, hash];
  if (notes.get(String(sequence)) === hash) notes.delete(String(sequence));
  if (record === null) {
    const run = runOf(String(run_id));
    const number = Buffer.alloc(8);
    number.writeBigUInt64BE(BigInt(sequence));
    run.left.update(number).update(hash, 'hex');
    [run.count, purged, links] = [run.count + 1, purged + 1, [hash]];
    return;
  }
  const content = Buffer.from(parts.content, 'base64');
  const digests = { actor: sha256(Buffer.from(parts.actor, 'base64')), content: sha256(content) };
  const known = Object.entries({ ...digests, sequence, stream_id: stream ?? record['stream_id'] });
  const hashes = links.map((prev_hash) => hashOf({ ...record, ...digests, prev_hash }));
  const isTrue =
    known.every(([name, value]) => record[name] === value) &&
    (record['v'] === 1 || record['v'] === 2) &&
    links.includes(record.prev_hash) &&
    hashes.includes(hash);
  links = isTrue ? [hash] : [hash, ...hashes];
  if (isTrue) stream = record['stream_id'];
  // The server does not know either what a record names whose predecessor is missing.
  if (!isTrue && (isFirst || isNext)) faults.push(`${sequence}: was changed`);
  if (!isTrue || record['category'] !== 'audit' || record['action'] !== 'retention.purged') return;
  const { metadata } = JSON.parse(content.toString('utf8', 1)) as { metadata: Run };
  runOf(metadata.run_id).told = metadata;
}

let rest = '';
for await (const chunk of createReadStream(file, 'utf8')) {
  const lines = (rest + String(chunk)).split('\n');
  rest = lines.pop()!;
  for (const line of lines) check(JSON.parse(line) as Line);
}
if (rest !== '') faults.push('the file is cut off');
for (const [id, { told, count, left }] of runs)
  // Of a run that began before the export, only a part is in it.
  if (!(told && told.first_sequence < first) && (told?.count !== count || told.digest !== left.digest('hex')))
    faults.push(`${id}: what it left is not what the chain tells`);
for (const [sequence, hash] of notes) faults.push(`${sequence}: does not have the hash ${hash}`);

for (const fault of faults) console.log(fault);
console.log(
  `${faults.length === 0 ? 'intact' : 'NOT INTACT'}: ${first} to ${last}, ${purged} purged, head ${head}`,
);
process.exitCode = faults.length === 0 ? 0 : 1;
