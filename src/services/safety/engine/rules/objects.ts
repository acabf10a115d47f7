import { textOf, type View } from '../views/view.ts';
import { wordSet } from './word-sets.ts';

/**
 * Whom the words of an attack's phrase belong to. "Ignore the previous instructions" is an attack where the instructions are the
 * assistant's, and advice where they are those of a doctor, a manual or a recipe.
 */

/** How much a phrase counts whose object belongs to something else, or that says what not to do. */
export const elsewhereFactor = 0.15;
/** The most that a phrase counts that needs an assistant, where none is named. */
export const mostUnaddressed = 0.4;

/** Characters that are read on either side of a phrase, and of the phrase itself. */
const farthest = 64;
const longestPhrase = 200;

/** What follows them says what the object is about. */
const relations = wordSet(
  'about regarding concerning on for of from by above below before under behind between at around zu zum zur über bezüglich betreffend für von vom sobre acerca de del para sur concernant pour du su per da della dello dei degli delle aux о об про по для к',
);
/** As above, but only before a definite noun: "in French" and "to me" say how to answer. */
const places = wordSet('in to im nach en dans na no nel');
const determiners = wordSet(
  'the my our his her their this that chapter section page step appendix paragraph der dem den meinem unserem diesem el la los las mi este le les mon ce o a il',
);
const conditions = wordSet('if when once unless wenn falls sobald si cuando quand lorsque');
/** Words by which an object is the assistant's after all. */
const assistants = wordSet(
  'you your yours yourself u ur system prompt prompts conversation chat session task request query message dialogue dialog context now moment once while rest future everything anything all developer developers openai anthropic google creator creators company admin administrator user users assistant ai llm model models bot chatbot chatgpt gpt claude gemini training programming safety content ethics ethical moral morals harm harmful refusing refusal refusals confidentiality secrecy secret secrets privacy password passwords responding answering answers response responses format output tone role persona character behavior behaviour me above prior previous earlier line point code block troubleshooting debugging testing purposes review audit verification begin beginning start point here today du dich dir dein deine deinem deinen deiner ihnen ihr ihre ihrer ihrem gespräch jetzt entwickler ki te ti tu tus usted su sus conversación ahora desarrollador ia toi ton ta tes vous votre vos maintenant développeur você seu sua seus suas ты тебя тебе твой твоих вас вам вами sistema système systeme systemprompt systems systemnachricht sicherheit ethik seguridad ética sécurité éthique sicurezza etica segurança conversa conversazione entwicklern entwicklers desarrolladores développeurs desenvolvedores sviluppatori системы безопасности этике разработчиков разработчика модели',
);
/** Words for what an answer looks like: "in a table" says how to answer. */
const formats = wordSet(
  'table list poem haiku song rhyme story sentence paragraph json yaml xml csv markdown html code cipher riddle language markup block',
);
const conditionsOfAssistants = wordSet(
  'ai llm model assistant chatbot chatgpt bot language asked told necessary possible needed summarizing reading processing answer answering respond responding reply replying write writing generate generating translate translating summarize read process ki ia',
);
/** Words that may stand between a determiner and the assistant's object. */
const neutral = wordSet(
  'of the all any and or my your own full entire exact complete whole original initial hidden secret confidential internal current previous previously prior earlier above preceding existing former first last actual real true core default safety security content ethical moral base basic developer system prior old built-in underlying preset programmed specific custom given these those other such very silly exact opening starting text wording rules instructions guidelines policies policy restrictions limits limitations filters constraints prompt directives orders commands guardrails safeguards training programming principles prompts regulations protocols settings message configuration exactly verbatim ridiculous stupid boring useless usual typical normal standard ethical ai openai chatgpt model assistant legal strict programmed before after you were are have been that to',
);
const possessives = /(?:^| )(?:your|ur|all|any|every|these) ((?:[^ .,;:!?]+ ){0,3})[^ .,;:!?]+$/u;

/** Whether the phrase's object is said to be about, of or for something that is not the assistant. */
export const isElsewhere = (view: View, start: number, end: number): boolean =>
  isQualified(view, start, end) || isModified(view, start, end);

function isQualified(view: View, start: number, end: number): boolean {
  const rest = textOf(view, end, Math.min(view.codes.length, end + farthest));
  if (!rest.startsWith(' ')) return false;
  const clause = rest.slice(1).split(/[.,;:!?()"\n]/u, 1)[0]!;
  const all = clause
    .split(' ')
    .filter((word) => word !== '')
    .slice(0, 7);
  const [first = '', ...words] = all;
  const last = lastWord.exec(textOf(view, Math.max(start, end - longestPhrase), end))?.[0] ?? '';
  // A phrase that ends with "above" goes on with what it is above.
  if (relations.has(last) && determiners.has(first)) return !all.some((word) => assistants.has(word));
  if (words.length === 0) return false;
  if (conditions.has(first)) return !words.some((word) => conditionsOfAssistants.has(word));
  if (words.some((word) => assistants.has(word))) return false;
  if (first === 'in' && words.slice(0, 4).some((word) => formats.has(word))) return false;
  return relations.has(first) || (places.has(first) && determiners.has(words[0]!));
}

const lastWord = /[^ ]+$/u;

/** Whether another noun stands before the object: house rules, grammar rules. */
function isModified(view: View, start: number, end: number): boolean {
  const words = possessives.exec(textOf(view, Math.max(start, end - longestPhrase), end))?.[1]?.trim();
  if (words === undefined || words === '') return false;
  return words.split(' ').some((word) => !neutral.has(word));
}

const negation =
  /(?:^|[^\p{L}])(?<!why )(?:not|never|don't|don’t|dont|cannot|can't|mustn't|nicht|nie|niemals|nunca|jamais) (?:to |ever |just |simply )?$/u;

/** Whether the phrase is what not to do. */
export const isNegated = (view: View, start: number): boolean =>
  negation.test(textOf(view, Math.max(0, start - farthest), start));

const assistant =
  /(?:^|[^\p{L}])(?:ai|a\.i\.|ais|agi|assistant|chatbot|chat bot|bot|chatgpt|gpt|gpt-?\d\w*|llm|language model|model|claude|gemini|bard|copilot|openai|prompt|jailbreak\w*|ki|ia|antworte|antwortest|antworten|responde|respondes|réponds|répondre|rispondi|отвечай|отвечаешь|ответь|бот|модель|asistente|assistente|ии|нейросеть|sprachmodell|modelo|modèle|modele|respond|reply|answer|answers|refuse|refuses|comply|chat|obey|character|request|requests|question|questions)(?=$|[^\p{L}])/u;

/** Whether an assistant, or what only an assistant does, is named in the phrase or near it. */
export const concernsAssistant = (view: View, start: number, end: number): boolean =>
  assistant.test(
    textOf(
      view,
      Math.max(0, start - farthest),
      Math.min(view.codes.length, Math.min(end, start + longestPhrase) + farthest),
    ),
  );
