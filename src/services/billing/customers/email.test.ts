import { describe, expect, it } from 'vitest';
import { emailKey, isEmail } from './email.ts';

describe('an email address', () => {
  it.each([
    'a@b.c',
    'billing@acme.example',
    "o'neil+invoices@mail.acme-shop.co.uk",
    'jürgen@größe.example',
    'a@xn--gre-8ka6i.example',
    '用户@例子.公司',
    `${'a'.repeat(240)}@b.example`,
    'a@1.2.example',
  ])('can be %s', (text) => expect(isEmail(text)).toBe(true));

  it.each([
    'acme.example',
    '@acme.example',
    'billing@',
    'billing@acme',
    'billing@acme.',
    'billing@.example',
    'billing@acme..example',
    'billing@-acme.example',
    'billing@acme-.example',
    'billing@acme_shop.example',
    'billing@127.0.0.1',
    'one@two@acme.example',
    'bill ing@acme.example',
    ' billing@acme.example',
    'billing@acme.example ',
    'billing@acme.example\n',
    'billing\r\nbcc:x@acme.example',
    'billing\u200b@acme.example',
    'billing\u0007@acme.example',
    `a@${'b'.repeat(64)}.example`,
    'Acme <billing@acme.example>',
  ])('is not %j', (text) => expect(isEmail(text)).toBe(false));

  it('is compared without case', () => expect(emailKey('Billing@ACME.example')).toBe('billing@acme.example'));

  it.each([
    ['many labels', `a@${'b.'.repeat(126)}`],
    ['one long label', `a@${'b'.repeat(252)}`],
    ['many hyphens', `a@${'b-'.repeat(126)}`],
  ])('is judged at once when it has %s', (_, text) => expect(isEmail(text)).toBe(false));
});
