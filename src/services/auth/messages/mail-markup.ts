import { Markup, markup, type Hole } from '../../../http/html.ts';
import { fontsOf, initialOf, type Look } from '../look/look.ts';
import { mailStyle, type MailStyle } from './mail-style.ts';
import type { Facts, Link, Mail, Part } from './mail.ts';

/** The markup of a mail, within what mail programs understand: tables, and styles at the elements. It loads nothing but the logo. */
export const mailMarkup = (mail: Mail, look: Look): string =>
  String(whole(mail, look, { ...mailStyle(look), fonts: fontsOf(look) }));

interface Style extends MailStyle {
  readonly fonts: string;
}

/** A table that only arranges what is in it. */
const table = new Markup('table role="presentation" cellpadding="0" cellspacing="0" border="0"');

const whole = (
  { subject, heading, preview, parts }: Mail,
  look: Look,
  style: Style,
): Markup => markup`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${style.scheme}">
<meta name="supported-color-schemes" content="${style.scheme}">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
<title>${subject}</title>
<style>${style.rules}</style>
</head>
<body${style.at('backdrop', 'margin:0;padding:0;-webkit-text-size-adjust:100%;overflow-wrap:anywhere')}>
<div style="display:none;max-height:0;overflow:hidden;mso-hide:all">${preview}${silence}</div>
<div role="article" aria-roledescription="email" aria-label="${subject}" lang="en">
<${table} width="100%"${style.at('backdrop', 'width:100%;table-layout:fixed')}><tr><td class="frame" align="center" style="padding:40px 16px">
${outlook(markup`<${table} width="560"><tr><td>`)}
<${table} width="100%" style="width:100%;max-width:560px;table-layout:fixed">
<tr><td align="left"${style.at('card', 'padding:40px 40px 24px;overflow-wrap:anywhere;border-width:1px;border-style:solid;border-radius:16px')}>
${head(look, style)}
<h1${style.at('text', `margin:32px 0 16px;${font(style, '24px/32px', 600)};letter-spacing:-.02em`)}>${heading}</h1>
${parts.map((part) => shown(part, style))}
</td></tr>
<tr><td align="left"${style.at('below', `padding:24px 40px;${font(style, '13px/20px')}`)}>${signature(look)}</td></tr>
</table>
${outlook(markup`</td></tr></table>`)}
</td></tr></table>
</div>
</body>
</html>
`;

/** Space that lists of mails show after the preview instead of the beginning of the mail. */
const silence = new Markup('&#847;&zwnj;&nbsp;'.repeat(80));

/** Markup for Outlook on Windows only, which does not know the greatest width of a table. */
const outlook = (content: Markup): Markup => markup`<!--[if mso]>${content}<![endif]-->`;

/** Mail programs do not pass fonts on into tables. */
const font = ({ fonts }: Style, size: string, weight = 400): string => `font:${weight} ${size} ${fonts}`;

/** The logo; without one, the first letter of the name and the name. */
function head({ name, logo_url }: Look, style: Style): Markup {
  // Mail programs load pictures from elsewhere, if at all, only by https.
  if (logo_url !== null && URL.parse(logo_url)?.protocol === 'https:')
    return markup`<img src="${logo_url}" alt="${name}" height="40"${style.at(
      'logo',
      `display:block;box-sizing:border-box;width:auto;max-width:100%;border:0;border-radius:8px;object-fit:contain;object-position:left;${font(style, '18px/40px', 600)}`,
    )}>`;
  return markup`<${table}><tr>
<td align="center" width="40" height="40" aria-hidden="true"${style.at('solid', `border-width:1px;border-style:solid;border-radius:12px`)}><span${style.at('on-solid', font(style, '18px/38px', 600))}>${initialOf(name)}</span></td>
<td dir="auto"${style.at('text', `padding-left:12px;${font(style, '18px/24px', 600)}`)}>${name}</td>
</tr></table>`;
}

function shown(part: Part, style: Style): Hole {
  if (typeof part === 'string') return paragraph(part, style);
  if ('href' in part) return button(part, style);
  if ('facts' in part) return factTable(part, style);
  return markup`<p${style.at('muted', `margin:0 0 16px;${font(style, '14px/22px')}`)}>${part.remark}</p>\n`;
}

const paragraph = (text: string, style: Style): Markup =>
  markup`<p${style.at('text', `margin:0 0 16px;${font(style, '16px/26px')}`)}>${text}</p>\n`;

/** The colour and the room of the button are the cell's too, because Outlook on Windows gives them to no link. */
const button = (
  { href, button }: Link,
  style: Style,
): Markup => markup`<${table} style="margin:24px 0"><tr><td align="center"${style.at(
  'solid',
  'border-width:1px;border-style:solid;border-radius:10px;mso-padding-alt:12px 24px',
)}><a href="${href}"${style.at('on-solid', `display:inline-block;padding:12px 24px;${font(style, '16px/24px', 600)};text-decoration:none`)}>${button}</a></td></tr></table>
<p${style.at('muted', `margin:0 0 16px;${font(style, '14px/22px')}`)}>If the button does not work, open this address in your browser:<br>
<a href="${href}"${style.at('link', 'word-break:break-all')}>${href}</a></p>
`;

const factTable = (
  { facts }: Facts,
  style: Style,
): Markup => markup`<table cellpadding="0" cellspacing="0" border="0" style="margin:0 0 16px">
${facts.map(
  ([
    label,
    value,
  ]) => markup`<tr><th scope="row" align="left" valign="top"${style.at('muted', `padding:4px 24px 4px 0;${font(style, '14px/22px')};white-space:nowrap`)}>${label}</th>
<td align="left"${style.at('text', `padding:4px 0;${font(style, '14px/22px')}`)}>${value}</td></tr>
`,
)}</table>
`;

const signature = ({ name, tagline }: Look): Markup =>
  markup`<span dir="auto">${name}</span>${tagline !== '' && markup`<br><span dir="auto">${tagline}</span>`}`;
