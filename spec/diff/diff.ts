/**
 * Finds breaking changes of the contract since a revision: `npm run contract:diff -- HEAD~1`. The default is the last tag, or
 * else the previous commit. It fails for each break that `spec/diff/intended.txt` does not allow. `--prune` deletes the lines
 * of that file that are no longer needed.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compare } from './compare.ts';
import type { Document } from './document.ts';
import { covers, judgeIntended, parseIntended, without, type Line } from './intended.ts';
import { nameOf, printBreaks, type Named } from './print.ts';
import { commitOf, defaultRevision, documentPath, revisionAt, workTree, type Revision } from './revision.ts';

const intendedPath = 'spec/diff/intended.txt';

export interface Report {
  readonly lines: readonly string[];
  readonly failed: boolean;
}

/** Compares the work tree of a repository with a revision. It writes only when it prunes lines. */
export function report(root: string, given?: string, prune = false): Report {
  const released = defaultRevision(root);
  const revision = given ?? released;
  const commit = commitOf(root, revision);
  if (commit === undefined) {
    if (!/^HEAD[~^]/.test(revision)) return { lines: [`${revision}: no such revision`], failed: true };
    return { lines: [`there is no ${revision} in this history: nothing to compare with`], failed: false };
  }
  const [before, after] = [revisionAt(root, commit), workTree(root)];
  const breaks = breaksBetween(before, after);
  const text = after.read(intendedPath) ?? '';
  const lines = parseIntended(text);
  const done = commitOf(root, released);
  const verdict = judgeIntended(
    breaks.filter(({ certain }) => certain).map(nameOf),
    lines,
    intendedOf(before),
    done === undefined ? [] : intendedOf(revisionAt(root, done)),
  );
  if (prune && verdict.used.length > 0) writeFileSync(join(root, intendedPath), without(text, verdict.used));
  return {
    lines: [
      ...describe(breaks, lines),
      ...remarks(verdict.useless, verdict.used, prune),
      summary(breaks, lines, revision),
    ],
    failed: verdict.unintended.length > 0 || verdict.useless.length > 0,
  };
}

const intendedOf = (revision: Revision): Line[] => parseIntended(revision.read(intendedPath) ?? '');

/** A document that the base does not have is a new service. A removed document removes all its operations. */
function breaksBetween(before: Revision, after: Revision): Named[] {
  return before.documents.flatMap((name) => {
    const [old, now] = [before.read(documentPath(name)) ?? '', after.read(documentPath(name))];
    if (old === now) return [];
    const gone: Document = { paths: {} };
    const found = compare(
      JSON.parse(old) as Document,
      now === undefined ? gone : (JSON.parse(now) as Document),
    );
    return found.map((one) => ({ ...one, service: name.replace('.json', '').toLowerCase() }));
  });
}

function describe(breaks: readonly Named[], lines: readonly Line[]): string[] {
  const sorted = Map.groupBy(breaks, (one) => kindOf(one, lines));
  return [
    ...section('Breaks that nobody has said are intended:', sorted.get('unintended')),
    ...section('Perhaps, to be looked at:', sorted.get('perhaps')),
    ...(sorted.get('intended') ?? []).map((one) => `intended: ${nameOf(one)} | ${reasonOf(one, lines)}`),
  ];
}

const section = (title: string, breaks: readonly Named[] | undefined): string[] =>
  breaks ? [title, '', ...printBreaks(breaks)] : [];

const reasonOf = (one: Named, lines: readonly Line[]): string | undefined =>
  lines.find((line) => covers(line, nameOf(one)))?.reason;

function kindOf(one: Named, lines: readonly Line[]): 'perhaps' | 'intended' | 'unintended' {
  if (!one.certain) return 'perhaps';
  return reasonOf(one, lines) === undefined ? 'unintended' : 'intended';
}

const remarks = (useless: readonly Line[], used: readonly Line[], prune: boolean): string[] => [
  ...useless.map(({ key }) => `${intendedPath}: "${key}" is no break; delete the line`),
  ...used.map(
    ({ key }) =>
      `${intendedPath}: "${key}" is done; ${prune ? 'the line was deleted' : '`--prune` deletes the line'}`,
  ),
];

function summary(breaks: readonly Named[], lines: readonly Line[], revision: string): string {
  const kinds = breaks.map((one) => kindOf(one, lines));
  const count = (kind: string) => kinds.filter((one) => one === kind).length;
  return (
    `contract since ${revision}: ${count('unintended')} unintended breaks, ` +
    `${count('intended')} intended, ${count('perhaps')} perhaps`
  );
}

if (import.meta.main) {
  const words = process.argv.slice(2);
  const [revision] = words.filter((word) => word !== '--prune');
  const { lines, failed } = report(process.cwd(), revision, words.includes('--prune'));
  console.log(lines.join('\n'));
  if (failed) process.exitCode = 1;
}
