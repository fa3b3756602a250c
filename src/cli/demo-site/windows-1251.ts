/** A page in an encoding from before UTF-8, named in a meta element only. */

const TEXT = `<!doctype html>
<html lang="ru">
<head>
<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">
<title>Снаряжение для неспешных путешествий</title>
</head>
<body>
<h1>Здравствуйте</h1>
<p>Эта страница записана в кодировке windows-1251: так писали многие сайты.</p>
<p><a href="/shop/">Магазин</a> и <a href="/blog/">дневник</a></p>
</body>
</html>
`

/** Letters А to я stand in one row from 0xC0; the page uses no others beyond ASCII. */
export function cyrillicPage(): Buffer {
  const bytes = Array.from(TEXT, (char) => {
    const code = char.codePointAt(0) ?? 0
    return code >= 0x410 && code <= 0x44f ? code - 0x410 + 0xc0 : code
  })
  return Buffer.from(bytes)
}
