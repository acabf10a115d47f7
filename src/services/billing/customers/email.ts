const label = String.raw`[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?`;
const form = new RegExp(String.raw`^[^\s\p{Cc}\p{Cf}@]+@(?:${label}\.)+(?!\d+$)${label}$`, 'u');

/** Whether a text is an email address: something visible, one `@`, and a domain with a dot. Whether anybody reads it only mail can tell. */
export const isEmail = (text: string): boolean => form.test(text);

/** The form in which addresses are compared. */
export const emailKey = (email: string): string => email.toLowerCase();
