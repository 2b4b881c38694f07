# Corrects how soap4r parses replies.

require 'soap/wsdlDriver'

# Debian's Ruby 3.1.7 brings REXML 3.3.9, which loses the first three characters of a source whose encoding is set after it
# was made, as soap4r does for each reply with a charset. Replies are UTF-8, which REXML finds out by itself.
XSD::XMLParser::REXMLParser.class_eval do
  def do_parse(string_or_readable)
    source = REXML::SourceFactory.create_from(string_or_readable)
    @charset = 'utf-8'
    REXML::Document.parse_stream(source, self)
  end
end
