# The service of an OpenAPI document, called with soap4r: service.rb SERVICE WSDL_URL OUT_DIR

require 'json'
require 'soap/wsdlDriver'
require_relative 'reader'

def told(value)
  case value
  when nil then nil
  when DateTime then value.iso8601
  else value.to_s
  end
end

def check(situation)
  puts JSON.generate(situation: situation, got: yield.map { |value| told(value) })
rescue StandardError => e
  puts JSON.generate(situation: situation, error: "#{e.class}: #{e.message}")
end

driver = SOAP::WSDLDriverFactory.new(ARGV[1]).create_rpc_driver
get = ->(id) { driver.getItem('id' => id)['Result'] }
item = get.call(1)
names = %w[name price weight stock added expires rating returnable note]
values = names.to_h { |name| [name, item[name]] }
tags = item['tags']['string']
check('read') { [*values.values, tags.size, tags[1]] }
check('change') do
  # soap4r takes a plain false for a missing member
  members = values.compact.merge('name' => 'Ö & Co', 'returnable' => 'false', 'tags' => { 'string' => tags })
  driver.putItem('id' => 1, 'Body' => members)
  back = get.call(1)
  %w[name price weight rating].map { |name| back[name] }
end
check('fault') do
  get.call(404)
rescue SOAP::FaultError => e
  [e.detail['FaultDetail']['status']]
end
