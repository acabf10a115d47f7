/**
 * Letters of Cyrillic and Greek that look like Latin ones. They are replaced in words that also have Latin letters; a word
 * of one script stays as it is.
 */
const lookAlikes: readonly (readonly [letters: string, likenesses: string])[] = [
  ['авсԁеҽһіјкӏмнорԛгѕтѵԝхуп', 'abcdeehijklmhopqrstvwxyn'],
  ['αβϲεηικνορστυχγωμϳ', 'abcenikvopotuxywuj'],
];

const likenesses = new Map<number, number>(
  lookAlikes.flatMap(([letters, like]) =>
    [...letters].map((letter, index) => [letter.charCodeAt(0), like.charCodeAt(index)] as const),
  ),
);

/** The Latin letter that a letter looks like, or the letter itself. */
export const likenessOf = (code: number): number => likenesses.get(code) ?? code;

/** Letters without a decomposition that are only ever used in place of Latin ones: small capitals. */
export const smallCapitals: ReadonlyMap<string, string> = new Map(
  [...'ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ'].map((letter, index) => [letter, 'abcdefghijklmnoprstuvwyz'.charAt(index)]),
);

/** Ranges of 26 symbols outside the basic plane that spell letters: squared, circled and regional ones. */
export const spelledAlphabets = [0x1f130, 0x1f150, 0x1f170, 0x1f1e6] as const;
