import { safeCss } from '../text/custom-css.ts';
import { isDark, palette } from './colors.ts';
import type { Look } from './look.ts';

const systemFonts = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

const rules = `
*, *::before, *::after { box-sizing: border-box }
html { -webkit-text-size-adjust: 100% }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 2rem 1rem; background: var(--backdrop);
  color: var(--text); font: 1rem/1.5 var(--font); overflow-wrap: anywhere }
main { width: 100%; max-width: 27rem; padding: 2.5rem; background: var(--ground); border: 1px solid var(--line);
  border-radius: 1rem; box-shadow: 0 1px 2px #0000000a, 0 12px 32px #0000000f }
header { display: flex; align-items: center; gap: .75rem; margin-bottom: 1.75rem }
header img { display: block; max-width: 10rem; max-height: 2.5rem }
header p { margin: 0; font-weight: 600 }
header .tagline { color: var(--muted); font-size: .875rem; font-weight: 400 }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; letter-spacing: -.01em }
h2 { margin: 0 0 .75rem; font-size: 1rem }
p { margin: 0 0 1rem }
.lead { margin-bottom: 1.5rem; color: var(--muted) }
.hint { margin: .25rem 0 0; color: var(--muted); font-size: .875rem }
form { display: grid; gap: 1.125rem; margin: 0 }
form + form, form + details, details + details, .links + form { margin-top: .75rem }
label, legend { display: block; margin: 0 0 .375rem; padding: 0; font-size: .9375rem; font-weight: 500 }
.optional { color: var(--muted); font-weight: 400 }
fieldset { margin: 0; padding: 0; border: 0 }
input:not([type=checkbox]):not([type=radio]), select, textarea { display: block; width: 100%; min-height: 2.75rem;
  padding: .5rem .75rem; border: 1px solid var(--field); border-radius: .5rem; background: var(--ground);
  color: var(--text); font: inherit }
textarea { min-height: 6rem; resize: vertical }
input.code { font-size: 1.25rem; letter-spacing: .2em }
.choice { display: flex; align-items: center; gap: .75rem; min-height: 2.75rem }
.choice input { width: 1.25rem; height: 1.25rem; margin: 0; flex: none; accent-color: var(--primary-line) }
.choice label { margin: 0; font-weight: 400 }
[aria-invalid=true] { border-color: var(--danger) !important; outline-color: var(--danger) }
.problem { margin: .375rem 0 0; color: var(--danger); font-size: .875rem; font-weight: 500 }
.notice { margin: 0 0 1.25rem; padding: .75rem 1rem; border: 1px solid; border-radius: .5rem }
.notice.danger { color: var(--danger) }
.notice.done { color: var(--done) }
button { display: block; width: 100%; min-height: 2.75rem; padding: .5rem 1rem; border: 1px solid var(--primary-line);
  border-radius: .5rem; background: var(--primary); color: var(--on-primary); font: inherit; font-weight: 600; cursor: pointer }
button.plain { border-color: var(--field); background: var(--ground); color: var(--text) }
button:hover { box-shadow: inset 0 0 0 100vh #ffffff1a }
button.plain:hover { box-shadow: none; background: var(--backdrop) }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px }
a { color: var(--link); text-underline-offset: .15em }
.links { display: flex; flex-wrap: wrap; justify-content: space-between; column-gap: 1rem; margin: 1rem 0 0 }
.links a, summary { display: inline-flex; align-items: center; min-height: 2.75rem }
summary { color: var(--link); cursor: pointer; text-decoration: underline; text-underline-offset: .15em }
details form { padding-top: .5rem }
.account { display: grid; margin: 0 0 1.5rem; padding: .75rem 1rem 0; border: 1px solid var(--line); border-radius: .5rem }
.account a { justify-self: start; display: inline-flex; align-items: center; min-height: 2.75rem; font-size: .9375rem }
.scopes { margin: 0 0 1.5rem; padding: 0; list-style: none; border-top: 1px solid var(--line) }
.scopes li { padding: .75rem 0; border-bottom: 1px solid var(--line) }
article { padding: 1rem 0; border-top: 1px solid var(--line) }
.message { margin: .75rem 0 0; white-space: pre-wrap }
code { font-family: ui-monospace, monospace; font-size: .9375em }
.device-code { font-size: 1.75rem; letter-spacing: .1em; text-align: center }
.hint.after { margin: 0 0 1.5rem }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem }
.pair form { margin: 0 }
@media (max-width: 30rem) {
  body { padding: 0; place-items: stretch; background: var(--ground) }
  main { max-width: none; padding: 2rem 1.25rem; border: 0; border-radius: 0; box-shadow: none }
}
`;

/** The complete style of a page. The allowed part of the brand's own CSS comes last. */
export function styleOf(look: Look): string {
  const colors = Object.entries(palette(look)).map(([name, color]) => `--${name}: ${color}`);
  const fonts = look.font_family === '' ? systemFonts : `${look.font_family}, ${systemFonts}`;
  const scheme = `color-scheme: ${isDark(look.background_color) ? 'dark' : 'light'}`;
  return `:root { ${[scheme, ...colors, `--font: ${fonts}`].join('; ')} }${rules}${safeCss(look.custom_css)}`;
}
