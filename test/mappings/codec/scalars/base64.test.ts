import test from 'ava';
import { base64FromXml } from '../../../../mappings/codec/scalars/base64.ts';

/** `read` or `refused`, so that a failure doesn't print a hundred thousand letters. */
function judge(text: string, expected: string): string {
  const letters = base64FromXml(text);
  if (letters === undefined) return 'refused';
  return letters === expected ? 'read' : 'read as another text';
}

// long texts are looked through by other means than short ones
for (const length of [8, 1_000, 1_008, 100_000]) {
  const letters = 'Az09+/Qg'.repeat(length / 8);

  test(`W14: base64 of ${length} letters is read, padded or not, and with blanks anywhere`, (t) => {
    t.is(judge(letters, letters), 'read');
    for (const end of ['QUI=', 'QQ==']) t.is(judge(letters + end, letters + end), 'read');
    const blanks = ` ${letters.slice(0, 5)}\r\n\t${letters.slice(5)}Q Q = = `;
    t.is(judge(blanks, `${letters}QQ==`), 'read');
  });

  test(`W14: base64 of ${length} letters with one that is none, wherever it stands, is refused`, (t) => {
    for (const other of ['-', '_', '!', '\u00a0', '\u0141', '\ud800', '\0']) {
      for (const at of [0, 1, length / 2, length - 1]) {
        t.is(judge(letters.slice(0, at) + other + letters.slice(at + 1), ''), 'refused', `${other} at ${at}`);
      }
    }
  });

  test(`W14: base64 of ${length} letters with padding before its end is refused`, (t) => {
    for (const at of [0, 1, length / 2]) {
      t.is(judge(`${letters.slice(0, at)}=${letters.slice(at + 1)}`, ''), 'refused', `at ${at}`);
    }
  });

  test(`W14: base64 of ${length} letters and an end that it can’t have is refused`, (t) => {
    for (const end of ['A', 'AA', 'AAA', 'QR==', 'QUJ=', '=']) t.is(judge(letters + end, ''), 'refused', end);
  });
}
