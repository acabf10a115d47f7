import honesty from '../../packs/honesty.json' with { type: 'json' };
import intents from '../../packs/intents.json' with { type: 'json' };
import jailbreak from '../../packs/jailbreak.json' with { type: 'json' };
import leak from '../../packs/leak.json' with { type: 'json' };
import manipulation from '../../packs/manipulation.json' with { type: 'json' };
import override from '../../packs/override.json' with { type: 'json' };
import safety from '../../packs/safety.json' with { type: 'json' };
import smuggling from '../../packs/smuggling.json' with { type: 'json' };
import topics from '../../packs/topics.json' with { type: 'json' };
import toxicity from '../../packs/toxicity.json' with { type: 'json' };
import { rulesOf } from './pack.ts';
import { RuleIndex } from './rule-index.ts';

const attacks = [override, jailbreak, leak, smuggling, manipulation].flatMap(rulesOf);
const contents = [toxicity, safety, honesty, topics, intents].flatMap(rulesOf);

/** The rules for attacks, which are looked for in every disguise, and those for contents. */
export const attackRules = new RuleIndex(attacks);
export const contentRules = new RuleIndex(contents);

/** The names of the groups below a prefix, such as the topics. */
export const groupsBelow = (prefix: string): readonly string[] =>
  [...new Set(contents.flatMap(({ groups }) => groups))]
    .filter((group) => group.startsWith(prefix))
    .map((group) => group.slice(prefix.length))
    .sort();
