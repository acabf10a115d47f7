import { textOf, type View } from '../views/view.ts';
import { wordSet } from './word-sets.ts';
import { wordsAfter, wordsBefore } from './weights.ts';

/** What a text is about where the words of a list mean something else than a wish to do harm. */
export type Subject = 'law' | 'medicine' | 'code' | 'works';

/** How much a term counts in a text about another subject. */
export const subjectFactor = 0.3;

const words: Readonly<Record<Subject, ReadonlySet<string>>> = {
  law: wordSet(
    'teachers banned council law laws legal act article section convention treaty protocol directive regulation statute statutes bill offence offences offense offenses crime crimes criminal criminalise criminalize criminalised criminalized punish punished punishable punishment penalty imprisonment prison sentenced convicted accused suspects suspected defendant defendants court courts trial trials prosecutor prosecution arrested arrest warrant prohibit prohibited prohibits forbid forbids forbidden condemn condemns policy terms stolen abuse exploitation trafficking victims victim survivors humanity civilians resolution documentary film museum memorial drills strafbar strafe stgb gesetz gesetzes richtlinie bekampfung urteil opfer convenio ley delito delitos penas prision codigo penal victimas loi lois punit puni peine incrimine traite directive',
  ),
  medicine: wordSet(
    'patient patients doctor doctors paediatrician pediatrician paediatric pediatric nurse nurses clinic medical therapy leaflet examination x-ray tanner screening ideation asthma toxicology toxicologist rash mice rats',
  ),
  code: wordSet(
    'process processes thread threads python node node.js nodejs go rust bash shell c java javascript typescript erlang rails postgresql postgres sql mysql redis linux unix windows kernel signal sigkill sigterm pid fork parent exits session sessions idle zombie job jobs root daemon container containers docker kubernetes pod pods systemd dom subtree react vue angular css html class instance api cache apollo detection opencv dataset pandas prozess prozesse chess minecraft roblox skyrim fallout redemption doom gta sims npc proceso procesos zombi processus',
  ),
  works: wordSet(
    'article articles report reports overview blog essay quiz lesson presentation slides awareness training policy poster test tests detector scanner filter rule plug-in plugin prevention protection history film films movie documentary effect effects diagram diagrams model circuits prevent prevents block blocks detect detects remove removes evitar prevencion articulo proteger eviter artikel schutz schutzt schutzen vermeiden verhindern virenscanner antivirus',
  ),
};

/** The subjects that the phrase itself has to name, so that a word nearby excuses nothing, and the words after it that are read. */
const within: ReadonlySet<Subject> = new Set(['works']);
const wordsBehind = 2;

/** Words of somebody who wants such a thing made, shown or done, in whose texts a law or a doctor excuses nothing. */
const requests = wordSet(
  'i me my we write describe generate show send give create draw find tell explain continue imagine roleplay pretend make want download sell buy share help teach plan schreibe schreib zeig zeige gib erstelle ich mir escribe dame muestra muestrame genera crea quiero ecris donne montre cree genere je',
);
const questions = /(?:^|[^\p{L}])how (?:to|do|can|could|would|should)(?=[^\p{L}])/u;
const withoutRequests: ReadonlySet<Subject> = new Set(['law', 'medicine']);

const wordsRead = 16;
const longestPlace = 400;

/** Whether the words around a place, or in it, are those of one of the subjects. */
export function isAbout(subjects: readonly Subject[], view: View, start: number, end: number): boolean {
  const place = textOf(view, start, Math.min(end, start + longestPlace));
  const inside = place.split(/[^\p{L}\p{N}.'’-]+/u);
  const before = wordsBefore(view, start, wordsRead);
  const after = wordsAfter(view, end, wordsRead);
  const isRequest = () =>
    [...before, ...inside].some((word) => requests.has(word)) ||
    questions.test(` ${before.toReversed().join(' ')} ${place} `);
  return subjects.some((subject) => {
    const read = within.has(subject)
      ? [...inside, ...after.slice(0, wordsBehind)]
      : [...before, ...inside, ...after];
    return read.some((word) => words[subject].has(word)) && !(withoutRequests.has(subject) && isRequest());
  });
}
