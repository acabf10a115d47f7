import { describe, expect, it } from 'vitest';
import type { Break } from './break.ts';
import { printBreaks, printRequest } from './print.ts';

const broken = (change: Partial<Break>): Break & { service: string } => ({
  service: 'things',
  operation: 'POST /v1/things',
  place: 'body.name',
  change: 'maxLength',
  message: 'must have at most 8 characters',
  outcome: 'was valid, now 400',
  certain: true,
  cause: 'Name',
  request: { method: 'POST', path: '/v1/things', query: {}, headers: {} },
  ...change,
});

describe('breaks as text', () => {
  it('shows those of one cause once, with one line that allows them all', () => {
    const others = ['PUT /v1/things/{id}', 'POST /v1/others'].map((operation) => broken({ operation }));
    expect(printBreaks([broken({}), ...others])).toEqual([
      'things POST /v1/things: body.name must have at most 8 characters',
      '    POST /things/v1/things',
      '    was valid, now 400',
      '    also: PUT /v1/things/{id}, POST /v1/others',
      '    intended? things * body.name maxLength | <reason>',
      '',
    ]);
  });

  it('shows an answer after what asks for it', () => {
    const answer = { status: '200', headers: { ETag: '"1"' }, contentType: 'text/csv', body: 'a,b' };
    expect(printBreaks([broken({ outcome: 'may now answer', answer })])).toContain(
      '    may now answer 200 (ETag: "1") text/csv "a,b"',
    );
  });

  it('offers no line for what is only suspected', () => {
    expect(printBreaks([broken({ certain: false, outcome: '', message: 'changed' })])).toEqual([
      'things POST /v1/things: body.name changed',
      '    POST /things/v1/things',
      '',
    ]);
  });

  it('writes a request as it is sent, long texts and lists shortened', () => {
    const request = {
      method: 'POST',
      path: '/v1/things',
      query: { q: 'a b', of: 'x' },
      headers: { 'X-Kind': 'new' },
      contentType: 'application/x-www-form-urlencoded',
      body: { name: 'a'.repeat(1000), tags: Array.from({ length: 100 }, () => 'x') },
    };
    expect(printRequest('things', request)).toBe(
      'POST /things/v1/things?q=a%20b&of=x (X-Kind: new) application/x-www-form-urlencoded ' +
        `{"name":"${'a'.repeat(40)}… (1000 characters)","tags":["x","x","… (100 items)"]}`,
    );
  });
});
