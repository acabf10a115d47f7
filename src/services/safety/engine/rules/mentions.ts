import { textOf, type View } from '../views/view.ts';
import { wordsBefore } from './weights.ts';

/** How much a phrase counts that the text only talks about. */
export const mentionFactor = 0.15;
/** Characters before a phrase in which its quotation may begin. */
const furthestQuote = 60;
/** Words before a quotation, or a phrase about a third party, that say what it is. */
const wordsRead = 9;

const quotes = new Set([...'"\'`“”„«»‘’「『《'].map((quote) => quote.charCodeAt(0)));

/** Beginnings of words that introduce an example or talk about attacks. */
const cues =
  /^(?:e|g|such|like|example|examples|eg|phrase|phrases|attack|attacks|attacker|attackers|injection|injections|jailbreak|jailbreaks|payload|payloads|string|strings|malicious|adversarial|detect|detects|detected|detecting|filter|filters|block|blocks|blocked|blocking|classif\w*|known|called|term|means|meaning|vulnerab\w*|research\w*|paper|attempt|attempts|trick|tricks|tricking|hackers|users|prevent\w*|defen\w*|contain\w*|say|saying|says|words|beispiel\w*|angriff\w*|angreifer\w*|satz|sätze\w*|phrase\w*|wie|ejemplo\w*|ataque\w*|frase\w*|como|exemple\w*|attaque\w*|comme|например|атак\w*)$/u;
/** Words within a phrase that say that it is about somebody else. */
const thirdParty =
  /(?:^|[^\p{L}])(?:its|their|his|her|the model's|the llm's|the system's|the ai's|a model's)(?=[^\p{L}])/u;

/** Whether an attack's phrase is quoted as an example, or tells what somebody else is made to do. */
export function isMention(view: View, start: number, end: number): boolean {
  const quote = quoteBefore(view, start);
  if (quote !== undefined && hasCue(view, quote)) return true;
  return thirdParty.test(textOf(view, start, Math.min(end, start + 200))) && hasCue(view, start);
}

const hasCue = (view: View, at: number) => wordsBefore(view, at, wordsRead).some((word) => cues.test(word));

/** Where the quotation begins in which a position lies; undefined when it lies in none. */
function quoteBefore({ codes }: View, at: number): number | undefined {
  for (let index = at - 1; index >= 0 && at - index <= furthestQuote; index--) {
    if (!quotes.has(codes[index]!)) continue;
    // An opening quote follows a space, a bracket or the like; a closing one or an apostrophe follows a letter.
    const before = index === 0 ? 0x20 : codes[index - 1]!;
    const opens =
      before === 0x20 || before === 0x28 || before === 0x5b || before === 0x3a || quotes.has(before);
    return opens ? index : undefined;
  }
  return undefined;
}
