/** What documentation, templates and tests write in the place of a secret. */
const written =
  /change[_-]?me|your[_-]|replace[_-]?(?:me|this|with)|placeholder|example|redacted|insert|dummy|sample|todo|undefined|process\.env|getenv|xxxx|\*\*\*|\.\.\.|…|1234567890|abcdef|<|>|\$\{|\{\{|%\(|\$\(/i;
/** Words of capitals, as constants and the gaps of templates are named: `REPLACE_WITH_PASSWORD`. */
const constantName = /^[A-Z]+(?:_[A-Z]+)+$/;
const passwordWord =
  /^[*.<>{}$[\]%#]|^x{3}|^your|replace[_-]?(?:me|this|with)|^(?:password|passwd|passwort|pass|pwd|pw|secret|change[_-]?me|token|api[_-]?key)$/i;
const inToken = /x{4}|\*{3}|your[_-]|replace[_-]|placeholder|example/i;

/** Whether an assigned value stands for a secret that is written elsewhere. */
export const isPlaceholder = (value: string): boolean => written.test(value) || constantName.test(value);

/** Whether a password, which may be any word, only names itself. */
export const isPlaceholderPassword = (password: string): boolean =>
  passwordWord.test(password) || constantName.test(password);

/** Whether what follows the prefix of a token is the place of a token and none. */
export const isPlaceholderToken = (body: string): boolean => inToken.test(body);
