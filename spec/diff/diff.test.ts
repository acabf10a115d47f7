/** Tests the command in a separate git repository. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { report } from './diff.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'plinth-diff-'));
  mkdirSync(join(root, 'tsp-output/openapi'), { recursive: true });
  mkdirSync(join(root, 'spec/diff'), { recursive: true });
  git('init', '--quiet');
});
afterEach(() => rmSync(root, { recursive: true }));

function git(...args: string[]): void {
  const identity = [
    '-c',
    'user.name=Anna',
    '-c',
    'user.email=anna@example.com',
    '-c',
    'commit.gpgsign=false',
  ];
  execFileSync('git', [...identity, ...args], { cwd: root, stdio: 'pipe' });
}

/** Writes a contract whose only operation accepts names of up to `maxLength` characters. */
function contract(maxLength: number, service = 'Things'): void {
  const schema = { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength } } };
  const post = {
    operationId: 'Things_create',
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: { '201': {} },
  };
  writeFileSync(
    join(root, `tsp-output/openapi/${service}.json`),
    JSON.stringify({ paths: { '/v1/things': { post } }, components: {} }),
  );
}

const intended = (...lines: string[]) =>
  writeFileSync(join(root, 'spec/diff/intended.txt'), ['# What is meant.', ...lines, ''].join('\n'));
const intendedNow = () =>
  readFileSync(join(root, 'spec/diff/intended.txt'), 'utf8').trim().split('\n').slice(1);
const commit = () => {
  git('add', '-A');
  git('commit', '--quiet', '-m', 'A change');
};

const line = 'things POST /v1/things body.name maxLength | names are printed on labels';

describe('contract:diff', () => {
  it('shows the request that is refused now, and the line that would allow it', () => {
    contract(9);
    commit();
    contract(8);
    expect(report(root, 'HEAD')).toEqual({
      failed: true,
      lines: [
        'Breaks that nobody has said are intended:',
        '',
        'things POST /v1/things: body.name must have at most 8 characters',
        '    POST /things/v1/things {"name":"aaaaaaaaa"}',
        '    was valid, now 400',
        '    intended? things POST /v1/things body.name maxLength | <reason>',
        '',
        'contract since HEAD: 1 unintended breaks, 0 intended, 0 perhaps',
      ],
    });
  });

  it('compares with the last tag, else with the commit before', () => {
    contract(9);
    commit();
    contract(8);
    commit();
    contract(7);
    expect(report(root).lines.at(-1)).toMatch('since HEAD~1: 1 unintended');
    git('tag', 'v1');
    contract(8);
    expect(report(root)).toEqual({
      failed: false,
      lines: ['contract since v1: 0 unintended breaks, 0 intended, 0 perhaps'],
    });
  });

  it('passes where there is no commit before, and says so', () => {
    contract(9);
    commit();
    const lines = ['there is no HEAD~1 in this history: nothing to compare with'];
    expect(report(root)).toEqual({ failed: false, lines });
    expect(report(root, 'HEAD~1')).toEqual({ failed: false, lines });
  });

  it('fails for a revision that does not exist', () => {
    contract(9);
    commit();
    expect(report(root, 'v9')).toEqual({ failed: true, lines: ['v9: no such revision'] });
  });

  it('takes a new document as a new service, and a missing one as all its operations gone', () => {
    contract(9);
    commit();
    contract(9, 'Others');
    expect(report(root, 'HEAD').failed).toBe(false);
    rmSync(join(root, 'tsp-output/openapi/Things.json'));
    expect(report(root, 'HEAD').lines).toContain(
      '    intended? things POST /v1/things operation removed | <reason>',
    );
  });

  it.each([line, 'things * body.name maxLength | names are printed on labels'])(
    'allows what is intended: %s',
    (said) => {
      contract(9);
      commit();
      contract(8);
      intended(said);
      expect(report(root, 'HEAD')).toEqual({
        failed: false,
        lines: [
          'intended: things POST /v1/things body.name maxLength | names are printed on labels',
          'contract since HEAD: 0 unintended breaks, 1 intended, 0 perhaps',
        ],
      });
      expect(intendedNow()).toEqual([said]);
    },
  );

  it('refuses a line without a break or without a reason', () => {
    contract(9);
    commit();
    intended(line);
    const { failed, lines } = report(root, 'HEAD');
    expect(failed).toBe(true);
    expect(lines).toContain(
      'spec/diff/intended.txt: "things POST /v1/things body.name maxLength" is no break; delete the line',
    );
    intended('things POST /v1/things body.name maxLength');
    expect(() => report(root, 'HEAD')).toThrow('needs a reason');
  });

  it('deletes a line whose break is in the commit before, when it is asked to', () => {
    contract(9);
    commit();
    contract(8);
    intended(line);
    commit();
    contract(8, 'Others');
    commit();
    const remark = 'spec/diff/intended.txt: "things POST /v1/things body.name maxLength" is done; ';
    const asked = report(root);
    expect(asked.failed).toBe(false);
    expect(asked.lines).toContain(`${remark}\`--prune\` deletes the line`);
    expect(intendedNow()).toEqual([line]);
    expect(report(root, undefined, true).lines).toContain(`${remark}the line was deleted`);
    expect(intendedNow()).toEqual([]);
  });

  it('writes nothing unless it is asked to prune', () => {
    contract(9);
    commit();
    contract(8);
    intended(line);
    commit();
    contract(8, 'Others');
    commit();
    const command = fileURLToPath(new URL('diff.ts', import.meta.url));
    const changedBy = (...words: string[]) => {
      execFileSync(process.execPath, [command, ...words], { cwd: root, stdio: 'pipe' });
      return execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
    };
    expect(changedBy()).toBe('');
    expect(changedBy('HEAD~1')).toBe('');
    expect(changedBy('--prune')).toBe(' M spec/diff/intended.txt\n');
  });

  it('keeps a line until the next tag has its break', () => {
    contract(9);
    commit();
    git('tag', 'v1');
    contract(8);
    intended(line);
    commit();
    contract(8, 'Others');
    commit();
    expect(report(root, 'HEAD~1').failed).toBe(false);
    expect(report(root).lines.at(-1)).toMatch('since v1: 0 unintended breaks, 1 intended');
    expect(intendedNow()).toEqual([line]);
    git('tag', 'v2');
    expect(report(root, undefined, true).failed).toBe(false);
    expect(intendedNow()).toEqual([]);
  });

  it('is a command that exits with 1 for a break', () => {
    contract(9);
    commit();
    contract(8);
    const command = fileURLToPath(new URL('diff.ts', import.meta.url));
    const run = () =>
      execFileSync(process.execPath, [command, 'HEAD'], { cwd: root, encoding: 'utf8', stdio: 'pipe' });
    expect(run).toThrow(expect.objectContaining({ status: 1 }));
    contract(9);
    expect(run()).toBe('contract since HEAD: 0 unintended breaks, 0 intended, 0 perhaps\n');
  });
});
