/** What a saved document's PDF tells. Dates are milliseconds since 1970. */
interface PdfContent {
  /** The document's id, all its digits. */
  readonly id: string;
  readonly title: string;
  readonly searchedName: string;
  readonly type: string;
  readonly dateCreated: number;
  readonly dateExpires: number;
}

/** The bytes of a document's PDF: the same for the same content, today and tomorrow. */
export async function writePdf(content: PdfContent): Promise<Buffer> {
  // a large library that a start needn't wait for
  const { default: PDFDocument } = await import('pdfkit');
  const pdf = new PDFDocument({
    size: 'A4',
    margin: 72,
    lang: 'en',
    // The properties are UTF-16: here the searched name is whole in every script.
    info: {
      Title: content.title,
      Subject: content.searchedName,
      CreationDate: new Date(content.dateCreated),
    },
  });
  const chunks: Buffer[] = [];
  const finished = new Promise<Buffer>((resolve, reject) => {
    pdf.on('data', (chunk: Buffer) => chunks.push(chunk));
    pdf.on('end', () => resolve(Buffer.concat(chunks)));
    pdf.on('error', reject);
  });
  pdf.font('Helvetica-Bold').fontSize(20).text(printable(content.title)).moveDown();
  pdf.font('Helvetica').fontSize(11);
  for (const line of [
    `Searched name: ${content.searchedName}`,
    `Document: ${content.id}`,
    `Kind: ${content.type}`,
    `Created: ${dayOf(content.dateCreated)}`,
    `Available until: ${dayOf(content.dateExpires)}`,
  ]) {
    pdf.text(printable(line));
  }
  pdf.moveDown().fontSize(9).text('This report was made from invented data. It says nothing about anyone.');
  pdf.end();
  return finished;
}

const dayOf = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10);

// The fonts every PDF reader has know the characters of windows-1252 and no others.
const fontCharacters = new Set(
  [...new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 256 }, (_, byte) => byte))].filter(
    (character) => !/\p{Cc}/u.test(character),
  ),
);

/** Text that the font can show; what it lacks stands as its code point, `[U+5C71]`. */
function printable(text: string): string {
  return [...text.normalize('NFC')]
    .map((character) =>
      fontCharacters.has(character)
        ? character
        : `[U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .join('');
}
