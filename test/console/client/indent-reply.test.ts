import test from 'ava';
import { indentReply } from '../../../console/client/try/indent-reply.ts';

test('a reply is indented by its media type; other text is unchanged', (t) => {
  t.is(
    indentReply('<?xml version="1.0"?><a><b>x</b></a>', 'text/xml; charset=utf-8'),
    '<?xml version="1.0"?>\n<a>\n  <b>x</b>\n</a>',
  );
  t.is(indentReply('<a><b/></a>', 'application/soap+xml'), '<a>\n  <b/>\n</a>');
  t.is(indentReply('{"a":[1.10]}', 'application/json'), '{\n  "a": [\n    1.10\n  ]\n}');
  for (const text of ['<a><![CDATA[<b>]]></a>', '<a><!-- <b> --></a>'])
    t.is(indentReply(text, 'text/xml'), text);
  t.is(indentReply('{"a":1}', 'text/plain'), '{"a":1}');
  t.is(indentReply('', 'text/xml'), '');
  t.is(indentReply('no JSON', 'application/json'), 'no JSON');
});
