import test from 'ava';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { readRelatedType, splitRelated, takeParts } from '../../../mappings/http-mapping/related.ts';

/** Returns the message's parts and its bytes. */
function split(boundary: string, content: Buffer) {
  const type = readRelatedType(`multipart/related; boundary="${boundary}"`);
  const head = `--${boundary}\r\nContent-Type: text/xml\r\n\r\n<a/>\r\n--${boundary}\r\nContent-ID: <p>\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n--${boundary}--`)]);
  const { parts } = takeParts(body, splitRelated(body, type, defaultLimits));
  return { parts, body };
}

test('W64: a part is a slice of its message, not a copy', (t) => {
  const { parts, body } = split('b', Buffer.alloc(100_000));
  t.is(parts[0]?.bytes.buffer, body.buffer);
});

test('W58: parameters are read in any order, case and quotes, and unknown ones are ignored', (t) => {
  for (const header of [
    'Multipart/Related;type="application/xop+xml";boundary=b;start="<r>";start-info="text/xml"',
    'multipart/related ; Boundary = "b" ;\tSTART=<r>; type=application/xop+xml ; charset=utf-8;',
    'multipart/related; start=r; x="\\";boundary=c"; boundary="\\b"; type="Application/XOP+xml"',
  ]) {
    const { boundary, start, form } = readRelatedType(header);
    t.deepEqual({ boundary, start, form }, { boundary: 'b', start: 'r', form: 'mtom' }, header);
  }
});

test('W58: an action is found in every position that stacks use', (t) => {
  for (const [parameter, actions] of [
    ['action=Op', ['Op']],
    ['action="urn:x#Op"', ['urn:x#Op']],
    ['start-info="application/soap+xml;action=\\"Op\\""', ['Op']],
    ['start-info="text/xml"', []],
  ] as const)
    t.deepEqual(readRelatedType(`multipart/related; boundary=b; ${parameter}`).actions, actions);
});

test('W59: refuses two boundaries with one line end between them', (t) => {
  const type = readRelatedType('multipart/related; boundary=b');
  for (const text of ['--b\r\n--b--', '--b\r\n\r\n<a/>\r\n--b\r\n--bX: y\r\n\r\n\r\n--b--'])
    t.throws(() => splitRelated(Buffer.from(text), type, defaultLimits), {
      message: /a part between two boundaries/,
    });
});
