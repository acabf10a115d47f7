import { expect, it } from 'vitest';
import { presentedClient } from './client-authentication.ts';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

it.each([
  [basic('client_1:sec_2'), undefined, { id: 'client_1', secret: 'sec_2' }],
  ['bAsIc ' + btoa('a:b'), undefined, { id: 'a', secret: 'b' }],
  [basic('a%3Ab:c+d%25'), undefined, { id: 'a:b', secret: 'c d%' }],
  [undefined, { client_id: 'a', client_secret: 'b' }, { id: 'a', secret: 'b' }],
  [basic('a:b'), { client_id: 'c', client_secret: 'd' }, { id: 'a', secret: 'b' }],
  [basic('a:'), undefined, undefined],
  [basic(':b'), undefined, undefined],
  [basic('a'), undefined, undefined],
  [basic('a:%'), undefined, undefined],
  ['Bearer x', undefined, undefined],
  [undefined, { client_id: 'a' }, undefined],
  [undefined, undefined, undefined],
  [undefined, { client_assertion: `e30.${btoa('{"sub":"a"}')}.c2ln` }, { id: 'a' }],
  [undefined, { client_id: 'b', client_assertion: `e30.${btoa('{"sub":1}')}.c2ln` }, undefined],
  [undefined, { client_assertion: 'a.b.c' }, undefined],
  [undefined, { client_assertion: '', client_id: 'a', client_secret: 'b' }, { id: 'a', secret: 'b' }],
])('%j with %j presents %j', (authorization, form, presented) => {
  expect(presentedClient({ authorization }, form)).toEqual(presented);
});
