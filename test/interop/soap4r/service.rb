# A service, called with soap4r: service.rb SERVICE WSDL_URL OUT_DIR VERSION

require 'json'
require 'soap/wsdlDriver'
require 'soap/header/simplehandler'
require_relative 'reader'

NAMESPACE = 'http://orders.example/'

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

def shop(driver)
  get = ->(id) { driver.getItem('id' => id)['Result'] }
  item = get.call(1)
  names = %w[name price weight stock added expires rating returnable note]
  values = names.to_h { |name| [name, item[name]] }
  tags = item['tags']['string']
  check('read') { [*values.values, tags.size, tags[1]] }
  check('change') do
    # soap4r omits a plain false
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
end

# The header block of a request.
class SessionHeader < SOAP::Header::SimpleHandler
  def initialize
    super(XSD::QName.new(NAMESPACE, 'SessionHeader'))
  end

  def on_simple_outbound
    { 'session' => 'abc', 'branch' => 'north' }
  end
end

# The header block of a reply.
class QuotaHeader < SOAP::Header::SimpleHandler
  attr_reader :quota

  def initialize
    super(XSD::QName.new(NAMESPACE, 'QuotaHeader'))
  end

  def on_simple_inbound(header, _must_understand)
    @quota = header
  end
end

# An element with members or a text, and with attributes.
def element(name, content, attributes = {})
  made = SOAP::SOAPElement.new(XSD::QName.new(NAMESPACE, name), content.is_a?(Array) ? nil : content)
  content.each { |member| made.add(member) } if content.is_a?(Array)
  attributes.each { |key, value| made.extraattr[key] = value }
  made
end

def line(quantity, article, price)
  element('Line', [element('Article', article), element('Price', price)], 'quantity' => quantity)
end

# Elements instead of a hash, because soap4r would write the members of a hash again in place of xs:any.
def order_to_place
  customer = element('Customer', [
                       element('Name', 'Ö & Co'), element('Phone', '555', 'kind' => 'mobile'), element('VatId', 'AT9')
                     ], XSD::AttrTypeName => XSD::QName.new(NAMESPACE, 'BusinessCustomer'))
  element('order', [
            customer, element('Placed', '2020-02-29T12:00:00'), element('Shipped', nil, XSD::AttrNilName => 'true'),
            element('Total', '10.25'), element('Status', 'Shipped'), line('3', 'Screws', '3.25'),
            line('1', 'Rope', '0.50'), element('Labels', [element('string', 'one'), element('string', 'two')]),
            element('Invoice', 'I-1')
          ], 'id' => '0', 'version' => '2')
end

def orders(driver)
  quota = QuotaHeader.new
  [SessionHeader.new, quota].each { |handler| driver.headerhandler << handler }
  get = ->(id) { driver.getOrder('orderId' => id)['GetOrderResult'] }
  attribute = ->(record, name) { record.__xmlattr[XSD::QName.new(nil, name)] }
  order = get.call(1)
  customer = order['Customer']
  calls_left = quota.quota['callsLeft']
  check('read') do
    [attribute.call(order, 'id'), order['Total'], order['Status'], order['Placed'], order['Shipped'], order['Line'].size,
     attribute.call(order['Line'][0], 'quantity'), order['Line'][1]['Price'], order['Card']['Last4'], order['Invoice'],
     customer['Name'], customer['Phone'], attribute.call(customer['Phone'], 'kind')]
  end
  check('polymorphism') { [customer.__xmlattr[XSD::AttrTypeName].sub(/.*:/, ''), customer['VatId']] }
  check('list') { [order['Labels']['string'].size, *order['Labels']['string'][0, 2]] }
  check('header') { [calls_left] }
  check('any') { [order['crate']] }
  placed = nil
  check('write') do
    placed = driver.placeOrder('order' => order_to_place)['PlaceOrderResult']
    back = get.call(placed)
    [back['Customer']['Name'], attribute.call(back['Customer']['Phone'], 'kind'), back['Customer']['VatId'],
     back['Shipped'], back['Total'], back['Line'][1]['Article'], back['Invoice'], back['Card']]
  end
  check('fault') do
    get.call(404)
  rescue SOAP::FaultError => e
    detail = e.detail['OrderNotFound']
    [detail['orderId'], detail['hint']]
  end
  check('empty reply') do
    driver.cancelOrder('orderId' => placed)
    [get.call(placed)['Status']]
  end
end

service, wsdl = ARGV
driver = SOAP::WSDLDriverFactory.new(wsdl).create_rpc_driver
service == 'shop' ? shop(driver) : orders(driver)
