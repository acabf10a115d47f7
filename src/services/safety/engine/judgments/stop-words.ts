/** Words that say nothing about the content of a sentence, in the languages of the packs. */
export const stopWords: ReadonlySet<string> = new Set(
  [
    'a about above after again against all also am an and any are as at be because been before being below between both but by can could did do does doing down during each few for from further had has have having he her here hers him his how i if in into is it its itself just may me might more most must my no nor not now of off on once only or other our out over own same shall she should so some such than that the their them then there these they this those through to too under until up very was we were what when where which while who whom why will with would you your',
    'aber als am an auch auf aus bei bin bis bist da dadurch daher damit dann das dass dein dem den der des die dies diese dieser dieses doch du durch ein eine einem einen einer eines er es euer für hat hatte ich ihr ihre im in ist ja jede jeder jedes kann können man mehr mein mit muss nach nicht noch nun nur ob oder ohne sehr sein seine sich sie sind so über um und uns unser unter vom von vor war waren was wenn wer werden wie wir wird wurde zu zum zur',
    'al algo ante como con cual cuando de del desde donde durante e el ella ellos en entre era es esa ese eso esta este esto fue ha han hasta hay la las le les lo los más me mi mientras muy no nos o para pero por porque que quien se ser si sin sobre son su sus también te tiene todo tu un una uno y ya',
    'à au aux avec ce ces cette comme dans de des du elle en est et été être eu il ils je la le les leur lui ma mais me même mes moi mon ne nos notre nous on ont ou par pas plus pour qu que qui sa se ses si son sont sur ta te tes toi ton tu un une vos votre vous',
  ].flatMap((words) =>
    words
      .normalize('NFKD')
      .replace(/[\u0300-\u036f]/g, '')
      .split(' '),
  ),
);
