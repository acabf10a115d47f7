import { describe, expect, it } from 'vitest';
import { escapeHtml } from '../../../http/html.ts';
import { type Look, plainLook } from '../look/look.ts';
import { mailOf } from './mail.ts';
import { invitationMail, resetPasswordMail, securityNotice, verifyEmailMail } from './message-texts.ts';

const link = 'https://app.example.com/verify?a=1&token=vrf_1';
const logo_url = 'https://cdn.example.com/logo.png?a=1&b=2';

/** A security notice with everything that one can say. */
const notice = (name: string, way: string | null) =>
  securityNotice(
    name,
    {
      told: [{ heading: 'New sign-in', sentence: 'Somebody signed in on a new device.' }],
      at: new Date('2026-11-20T09:30:00Z'),
      byOther: false,
      device: 'Safari on macOS',
      ip: '203.0.113.7',
      isLast: true,
    },
    way,
  );

const mails = {
  verify: (name: string) => verifyEmailMail(name, link),
  reset: (name: string) => resetPasswordMail(name, link),
  invitation: (name: string) => invitationMail(name, 'Engines', link),
  notice: (name: string) => notice(name, link),
};
const each = Object.entries(mails);

const branded: Look = {
  ...plainLook('Analytical Engines'),
  logo_url,
  tagline: 'Machines that reckon',
  primary_color: '#0f766e',
  accent_color: '#0f766e',
  font_family: 'Georgia, "Times New Roman"',
};

/** The addresses that a mail program would ask for by itself. */
const loaded = (html: string) =>
  [...html.matchAll(/(?:src|srcset|background|poster)="([^"]*)"|url\(|@import|<link|<iframe|<object/g)].map(
    ([whole, address]) => address ?? whole,
  );

describe.each(each)('the mail %s', (_name, mail) => {
  it('says the same in both forms', () => {
    const { parts } = mail(branded.name);
    const { subject, text, html } = mailOf(mail(branded.name), branded);
    expect(subject).toContain('Analytical Engines');
    for (const part of parts) {
      const said =
        typeof part === 'string'
          ? [part]
          : 'href' in part
            ? [part.href, part.button]
            : 'facts' in part
              ? part.facts.flat()
              : [part.remark];
      for (const one of said) {
        expect(text).toContain(one);
        expect(html).toContain(escapeHtml(one));
      }
    }
    expect(text.endsWith('\n\n-- \nAnalytical Engines\nMachines that reckon\n')).toBe(true);
    expect(text.match(/https?:\S+/g)).toEqual([link]);
    expect([...html.matchAll(/<a href="([^"]*)"/g)].map(([, href]) => href)).toEqual([
      escapeHtml(link),
      escapeHtml(link),
    ]);
  });

  it('has the logo of the branding and loads nothing else', () => {
    const { html } = mailOf(mail(branded.name), branded);
    expect(loaded(html)).toEqual([escapeHtml(logo_url)]);
    expect(html).toContain('alt="Analytical Engines"');
    expect(html).toContain('Georgia, &quot;Times New Roman&quot;');
    expect(html).toContain('background-color:#0f766e');
  });

  it.each([null, 'http://cdn.example.com/logo.png', 'data:image/png;base64,AAAA', 'javascript:alert(1)'])(
    'with the logo %s has the first letter of the name and loads nothing',
    (address) => {
      const { html } = mailOf(mail(branded.name), { ...branded, logo_url: address });
      expect(loaded(html)).toEqual([]);
      expect(html).toMatch(/aria-hidden="true"[^>]*><span[^>]*>A<\/span>/);
    },
  );

  it.each([
    `<script>alert(1)</script>`,
    `"><img src=x onerror=alert(1)>`,
    `' onload='alert(1)`,
    `<![endif]--><script>alert(1)</script>`,
    '</title></style><script>alert(1)</script>',
  ])('escapes the name %s', (name) => {
    const look = { ...branded, name, tagline: name };
    const { subject, text, html } = mailOf(mail(name), look);
    expect(subject).toContain(name);
    expect(text).toContain(name);
    expect(html).not.toContain(name);
    expect(html).toContain(escapeHtml(name));
    expect(html).not.toMatch(/<script|<img src=x/);
  });

  it('has a subject of one line, whatever it quotes', () => {
    const name = 'App\r\nBcc: everybody@example.com\n\nHello\u2028';
    const { subject } = mailOf(mail(name), plainLook(name));
    expect(subject).not.toMatch(/[\p{Cc}\u2028]/u);
    expect(subject).toContain('App  Bcc: everybody@example.com');
  });
});

it('a subject is no longer than the contract allows', () => {
  const name = '🚀'.repeat(128);
  const { subject } = mailOf(invitationMail(name, name, link), plainLook(name));
  expect([...subject]).toHaveLength(256);
  expect(subject).toMatch(/ on (?:🚀)+…$/u);
});

it('a notice to somebody who cannot recover the account has no link', () => {
  const { text, html } = mailOf(notice('App', null), plainLook('App'));
  expect([text.includes('http'), html.includes('href')]).toEqual([false, false]);
  expect(text).toContain('contact the people who run App at once');
});

it.each([
  ['system', 'light dark', '#ffffff', true],
  ['light', 'light only', '#ffffff', false],
  ['dark', 'dark only', '#181620', false],
] as const)('the scheme %s is %s', (color_scheme, meta, ground, asks) => {
  const { html } = mailOf(mails.verify('App'), { ...plainLook('App'), color_scheme });
  expect(html).toContain(`<meta name="color-scheme" content="${meta}">`);
  expect(/class="card" style="[^"]*background-color:(#\w+)/.exec(html)?.[1]).toBe(ground);
  expect(html.includes('prefers-color-scheme: dark')).toBe(asks);
});
