import test from 'ava';
import { compiledGet, element as e, many, maybe, sequence, writeMessage } from './messages.ts';

/** Buffers grow at any position of a message without losing data. */

const long = 'Long'.repeat(40);

test('a long reply is complete at every buffer boundary: names with prefixes, arrays', (t) => {
  const { request } = compiledGet(
    t,
    sequence(e('pad', 'xs:string', maybe) + e('r', 't:R', many)),
    `<xs:complexType name="R"><xs:sequence>${e('i', 'xs:int', many)}${e('names', 't:Names', maybe)}${e('j', 'xs:int', many)}${e(long, 't:Ids', maybe)}</xs:sequence></xs:complexType>` +
      `<xs:complexType name="Names"><xs:sequence>${e(`${long}Name`, 'xs:QName', many)}</xs:sequence></xs:complexType>` +
      `<xs:complexType name="Ids"><xs:sequence>${e('i', 'xs:int', many)}</xs:sequence></xs:complexType>`,
  );
  // short elements between, since each long one leaves free space after it
  const numbers = '1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16';
  const short = (name: string): string => numbers.replace(/(\d+),?/g, `<n0:${name}>$1</n0:${name}>`);
  const uri = 'u'.repeat(40);
  const item = `{"i":[${numbers}],"names":["{${uri}}x"],"j":[${numbers}],"${long}":[${numbers}]}`;
  const xml = `<n0:r>${short('i')}<n0:names><n0:${long}Name xmlns:q0="${uri}">q0:x</n0:${long}Name></n0:names>${short('j')}<n0:${long}>${short('i')}</n0:${long}></n0:r>`;
  const count = 56;
  const items = `${item},`.repeat(count - 1) + item;
  const all = xml.repeat(count);
  for (let length = 1; length <= xml.length; length += 8) {
    const pad = 'p'.repeat(length);
    const written = writeMessage(request, `{"r":[${items}],"pad":"${pad}"}`);
    const start = written.indexOf('<n0:pad>');
    t.true(written.slice(start) === `<n0:pad>${pad}</n0:pad>${all}</n0:Get>`, `${length}`);
  }
});

test('a long reply is complete at every boundary of its tape', (t) => {
  const { request } = compiledGet(t, sequence(`<xs:element name="v" ${many} nillable="true"/>`));
  const count = 9_000;
  const items = Array.from({ length: count }, () => '1').join(',');
  const all = '<n0:v i:type="xsd:long">1</n0:v>'.repeat(count);
  for (let before = 1; before <= 8; before++) {
    const written = writeMessage(request, `{"v":[${'[],'.repeat(before)}${items}]}`);
    const start = written.indexOf('<n0:v>');
    t.true(written.slice(start) === `${'<n0:v></n0:v>'.repeat(before)}${all}</n0:Get>`, `${before}`);
  }
});
