/** Contents of a saved document's PDF. Dates are milliseconds since 1970. */
interface PdfContent {
  /** The document's id as decimal digits. */
  readonly id: string;
  readonly title: string;
  readonly searchedName: string;
  readonly type: string;
  readonly dateCreated: number;
  readonly dateExpires: number;
}

/** Maximum number of characters in a line of text. Longer text continues on the next line. */
const maxLineCharacters = 80;

/** One line of the page: its font (F1 regular, F2 bold), font size and distance from the line before, in points. */
interface Line {
  readonly font: 'F1' | 'F2';
  readonly size: number;
  readonly distance: number;
  readonly text: string;
}

/**
 * Returns the PDF of a document: one A4 page of text in the standard font Helvetica. Equal contents give equal bytes.
 * Structure and syntax are those of PDF 1.4 (ISO 32000-1, 7.5).
 */
export function writePdf(content: PdfContent): Buffer {
  const page = contentStream(linesOf(content));
  const { title, searchedName, dateCreated } = content;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R /Lang (en) >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>',
    `<< /Length ${page.length} >>\nstream\n${page}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>',
    `<< /Title ${utf16(title)} /Subject ${utf16(searchedName)} /CreationDate (${pdfDate(dateCreated)}) >>`,
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  // each entry of the table has exactly 20 bytes (ISO 32000-1, 7.5.4)
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  text +=
    `xref\n0 ${size}\n0000000000 65535 f \n${entries}` +
    `trailer\n<< /Size ${size} /Root 1 0 R /Info 7 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}

function linesOf({ id, title, searchedName, type, dateCreated, dateExpires }: PdfContent): readonly Line[] {
  const regular = [
    `Searched name: ${searchedName}`,
    `Document: ${id}`,
    `Kind: ${type}`,
    `Created: ${dayOf(dateCreated)}`,
    `Available until: ${dayOf(dateExpires)}`,
  ];
  const note = 'This report was made from invented data. It says nothing about anyone.';
  return [
    ...wrap(title).map((text): Line => ({ font: 'F2', size: 20, distance: 24, text })),
    ...regular.flatMap(wrap).map((text): Line => ({ font: 'F1', size: 11, distance: 16, text })),
    { font: 'F1', size: 9, distance: 28, text: note },
  ];
}

/** The operators that show the lines, from the page's top left corner (ISO 32000-1, 9.4). */
function contentStream(lines: readonly Line[]): string {
  const shown = lines.map(
    ({ font, size, distance, text }) => `/${font} ${size} Tf 0 -${distance} Td ${winAnsi(text)} Tj`,
  );
  return `BT 72 780 Td\n${shown.join('\n')}\nET`;
}

/** Splits a text into lines of the page. A character that the font lacks becomes `[U+5C71]`. */
function wrap(text: string): readonly string[] {
  const shown = printable(text);
  return Array.from({ length: Math.ceil(shown.length / maxLineCharacters) }, (_, line) =>
    shown.slice(line * maxLineCharacters, (line + 1) * maxLineCharacters),
  );
}

const dayOf = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10);

/** Formats a date for PDF, in UTC (ISO 32000-1, 7.9.4). */
function pdfDate(milliseconds: number): string {
  return `D:${new Date(milliseconds).toISOString().replace(/\D/g, '').slice(0, 14)}Z`;
}

/** Bytes of windows-1252 by character, without control characters. Every PDF reader's font has these characters. */
const fontBytes: ReadonlyMap<string, number> = new Map(
  Array.from(
    new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 256 }, (_, byte) => byte)),
    (character, byte): [string, number] => [character, byte],
  ).filter(([character]) => !/\p{Cc}/u.test(character)),
);

function printable(text: string): string {
  return [...text.normalize('NFC')]
    .map((character) =>
      fontBytes.has(character)
        ? character
        : `[U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .join('');
}

/** A hexadecimal string of bytes in WinAnsiEncoding, which is windows-1252 (ISO 32000-1, 7.3.4.3 and D.2). */
function winAnsi(text: string): string {
  return `<${Buffer.from([...text].map((character) => fontBytes.get(character) ?? 0x3f)).toString('hex')}>`;
}

/** A hexadecimal string in UTF-16BE with its byte order mark, which holds every script (ISO 32000-1, 7.9.2.2). */
function utf16(text: string): string {
  return `<${Buffer.from(`\uFEFF${text}`, 'utf16le').swap16().toString('hex')}>`;
}
