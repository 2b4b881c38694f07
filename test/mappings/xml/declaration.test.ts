import test from 'ava';
import { readDeclaration } from '../../../mappings/xml/declaration.ts';

test('[23] XMLDecl: its version, its encoding and its length are read', (t) => {
  for (const [text, version, encoding] of [
    ['<?xml version="1.0"?>', '1.0', undefined],
    ["<?xml version='1.0'?>", '1.0', undefined],
    ['<?xml version="1.1"?>', '1.1', undefined],
    ['<?xml version="1.10"?>', '1.10', undefined],
    ['<?xml \t\r\nversion \t\r\n= \t\r\n"1.0" \t\r\n?>', '1.0', undefined],
    ['<?xml version="1.0" encoding="utf-8"?>', '1.0', 'utf-8'],
    ["<?xml version='1.0'\tencoding='UTF-16'?>", '1.0', 'UTF-16'],
    ['<?xml version="1.0"\r\n encoding = "A1._-z" ?>', '1.0', 'A1._-z'],
    ['<?xml version="1.0" encoding="z"?>', '1.0', 'z'],
    ['<?xml version="1.0" standalone="yes"?>', '1.0', undefined],
    ["<?xml version='1.0' standalone='no'?>", '1.0', undefined],
    ['<?xml version="1.0" encoding="x" \n standalone \t= \r"no" ?>', '1.0', 'x'],
  ] as const)
    for (const behind of ['', '<a/>', ' ?>'])
      t.deepEqual(readDeclaration(text + behind), { version, encoding, length: text.length }, text);
});

test('a declaration that differs from [23] XMLDecl is refused', (t) => {
  for (const text of [
    '',
    '<?xml?>',
    '<?xml version="1.0">',
    '<?xml version="1.0"',
    ' <?xml version="1.0"?>',
    '<a/><?xml version="1.0"?>',
    '<?XML version="1.0"?>',
    '<?xmlversion="1.0"?>',
    '<?xml Version="1.0"?>',
    '<?xml version"1.0"?>',
    '<?xml version=1.0?>',
    '<?xml version="1.0\'?>',
    '<?xml version=\'1.0"?>',
    '<?xml version="1"?>',
    '<?xml version="1."?>',
    '<?xml version="2.0"?>',
    '<?xml version="1x0"?>',
    '<?xml version="1.0a"?>',
    '<?xml version=""?>',
    '<?xml encoding="utf-8"?>',
    '<?xml encoding="utf-8" version="1.0"?>',
    '<?xml version="1.0"encoding="utf-8"?>',
    '<?xml version="1.0" encoding"utf-8"?>',
    '<?xml version="1.0" encoding=utf-8?>',
    '<?xml version="1.0" encoding=""?>',
    '<?xml version="1.0" encoding="8"?>',
    '<?xml version="1.0" encoding="-"?>',
    '<?xml version="1.0" encoding="é"?>',
    '<?xml version="1.0" encoding="a b"?>',
    '<?xml version="1.0" encoding="a" encoding="a"?>',
    '<?xml version="1.0"standalone="yes"?>',
    '<?xml version="1.0" standalone="YES"?>',
    '<?xml version="1.0" standalone="maybe"?>',
    '<?xml version="1.0" standalone=""?>',
    '<?xml version="1.0" standalone=yes?>',
    '<?xml version="1.0" standalone="yes" encoding="a"?>',
    '<?xml version="1.0" standalone="yes" standalone="yes"?>',
    '<?xml version="1.0" other="x"?>',
    '<?xml version="1.0"\u00a0?>',
    '<?xml version="1.0" ? >',
  ])
    t.is(readDeclaration(text), undefined, text);
});
