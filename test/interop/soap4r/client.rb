# Makes the checks with soap4r, which supports only SOAP 1.1.

require 'json'
require 'soap/wsdlDriver'

require_relative 'reader'

CREDENTIALS = { 'ApiUserId' => 'demo', 'ApiUserKey' => 'demo-key' }.freeze

# Converts an input for soap4r: dates become DateTimes, and false becomes text, since soap4r omits a plain false.
def native(value)
  return value.transform_values { |member| native(member) } if value.is_a?(Hash)
  return 'false' if value == false
  return value unless value.is_a?(String) && value.match?(/\A\d{4}-\d\d-\d\dT/)

  DateTime.parse(value)
end

# Returns the value at a path; nil if it ends early. An element that occurs once is not an array.
def at(value, path)
  steps = path.split('.')
  steps.each_with_index do |step, index|
    return nil if value.nil?
    return Array(value).size if step == '#'

    value = step.match?(/\A\d+\z/) ? value[step.to_i] : member(value, step)
    # an array without an item is empty
    value = [] if value.nil? && steps[index + 1] == '#'
  end
  value
end

# Returns the state of a record's member.
def presence(data, path)
  *steps, name, _ = path.split('.')
  record = at(data, steps.join('.'))
  there = record.respond_to?(:__xmlele) ? record.__xmlele.any? { |element, _| element.name == name } : record.key?(name)
  return 'absent' unless there

  member(record, name).nil? ? 'nil' : 'value'
end

def member(record, name)
  record.respond_to?(:__xmlele) ? record[XSD::QName.new('http://schemas.servicestack.net/types', name)] : record[name]
end

def printed(value)
  case value
  when nil then nil
  when DateTime then value.iso8601
  else value.to_s
  end
end

def read(driver, check)
  name = check['operation']
  reply = driver.send(name[0].downcase + name[1..], { 'Authentication' => CREDENTIALS }.merge(native(check['input'])))
  data = reply['Data']
  return data unless check['situation'] == 'base64'

  # the library leaves decoding base64 to its caller
  document = data['Document']
  bytes = document['DocumentBytes'].unpack1('m')
  texts = %w[Id IsReady].to_h { |name| [name, document[name]] }
  { 'Document' => { **texts, 'DocumentBytes' => "#{bytes[0, 4]} #{bytes.size}" } }
rescue SOAP::FaultError => e
  { 'code' => e.faultcode.data.sub(/.*:/, ''), 'message' => e.message }
end

def say(line)
  puts JSON.generate(line)
end

driver = SOAP::WSDLDriverFactory.new(ARGV[0]).create_rpc_driver
say(situation: 'import', got: [])
JSON.parse(File.read(ENV.fetch('CHECKS'))).each do |check|
  line = check.slice('operation', 'situation')
  driver.endpoint_url = ENV.fetch(check['situation'] == 'fault' ? 'FAULT_ENDPOINT' : 'ENDPOINT')
  begin
    data = read(driver, check)
    say(line.merge(got: check['read'].keys.map { |path| path.end_with?('?') ? presence(data, path) : printed(at(data, path)) }))
  rescue StandardError => e
    say(line.merge(error: "#{e.class}: #{e.message}"))
  end
end
