-- A service, called with LuaSOAP: service.lua SERVICE WSDL_URL OUT_DIR VERSION

local client = require("soap.client")
local soap = require("soap")

local service, wsdl, _, version = unpack(arg)
local address = wsdl:gsub("%?wsdl$", "")

local function local_name(name)
  return (name:gsub("^.*:", ""))
end

local function children(element, name)
  local found = {}
  for _, inner in ipairs(element or {}) do
    if type(inner) == "table" and local_name(inner.tag) == name then
      found[#found + 1] = inner
    end
  end
  return found
end

local function child(element, name)
  return children(element, name)[1]
end

-- An attribute by its local name.
local function attribute(element, name)
  for key, value in pairs(element.attr) do
    if type(key) == "string" and local_name(key) == name then
      return value
    end
  end
end

-- Returns the text of a member; nil if it is absent or nil.
local function member(element, name)
  local found = child(element, name)
  return found and attribute(found, "nil") ~= "true" and (found[1] or "") or nil
end

local function members(element, names)
  local values = {}
  for index, name in ipairs(names) do
    values[index] = member(element, name)
  end
  return values
end

local function quoted(value)
  if value == nil then
    return "null"
  end
  return '"' .. tostring(value):gsub("\\", "\\\\"):gsub('"', '\\"'):gsub("\n", " ") .. '"'
end

local function check(situation, count, read)
  local ok, got = pcall(read)
  if not ok then
    print('{"situation":"' .. situation .. '","error":' .. quoted(got) .. "}")
    return
  end
  local values = {}
  for index = 1, count do
    values[index] = quoted(got[index])
  end
  print('{"situation":"' .. situation .. '","got":[' .. table.concat(values, ",") .. "]}")
end

-- A call with an optional header block. SOAP 1.2 has no SOAPAction.
local function call(namespace, action, operation, entries, header)
  local _, _, reply = client.call({
    url = address, soapaction = action, soapversion = tonumber(version), namespace = namespace, method = operation,
    entries = entries, header = header,
  })
  return reply
end

-- Converts an element for sending: removes the namespace of the reply.
local function entry(element)
  local made = { tag = local_name(element.tag) }
  for index, inner in ipairs(element) do
    made[index] = type(inner) == "table" and entry(inner) or inner
  end
  return made
end

local function text(tag, value, attr)
  return { tag = tag, attr = attr, soap.escape(value) }
end

local function shop()
  local function send(operation, entries)
    return call("urn:Shop", operation, operation, entries)
  end
  local function get(id)
    return child(send("getItem", { { tag = "id", id } }), "Result")
  end
  local item = get(1)
  check("read", 11, function()
    local names = { "name", "price", "weight", "stock", "added", "expires", "rating", "returnable", "note" }
    local values = members(item, names)
    local tags = child(item, "tags")
    values[10], values[11] = #tags, tags[2][1]
    return values
  end)
  check("change", 4, function()
    local body = entry(item)
    body.tag = "Body"
    child(body, "name")[1] = soap.escape("Ö & Co")
    send("putItem", { { tag = "id", 1 }, body })
    return members(get(1), { "name", "price", "weight", "rating" })
  end)
  check("fault", 1, function()
    local ok, message = pcall(get, 404)
    return { not ok and tostring(message):match("<status>(%d+)</status>") or nil }
  end)
end

local function order_to_place()
  local types = "http://orders.example/"
  local function line(quantity, article, price)
    return { tag = "Line", attr = { quantity = quantity }, text("Article", article), text("Price", price) }
  end
  return {
    tag = "order",
    attr = { id = "0", version = "2" },
    {
      tag = "Customer",
      attr = { ["xmlns:o"] = types, ["xsi:type"] = "o:BusinessCustomer" },
      text("Name", "Ö & Co"), text("Phone", "555", { kind = "mobile" }), text("VatId", "AT9"),
    },
    text("Placed", "2020-02-29T12:00:00"),
    { tag = "Shipped", attr = { ["xsi:nil"] = "true" } },
    text("Total", "10.25"),
    text("Status", "Shipped"),
    line("3", "Screws", "3.25"),
    line("1", "Rope", "0.50"),
    { tag = "Labels", text("string", "one"), text("string", "two") },
    text("Invoice", "I-1"),
  }
end

local function orders()
  local namespace = "http://orders.example/"
  local header = {
    tag = "SessionHeader", attr = { xmlns = namespace }, text("session", "abc"), text("branch", "north"),
  }
  local function send(operation, entries)
    return call(namespace, namespace .. operation, operation, entries, header)
  end
  local function get(id)
    return child(send("GetOrder", { { tag = "orderId", id } }), "GetOrderResult")
  end
  local order = get(1)
  local customer = child(order, "Customer")
  check("read", 13, function()
    local lines = children(order, "Line")
    local found = members(order, { "Total", "Status", "Placed", "Shipped" })
    return {
      attribute(order, "id"), found[1], found[2], found[3], found[4], #lines, attribute(lines[1], "quantity"),
      member(lines[2], "Price"), member(child(order, "Card"), "Last4"), member(order, "Invoice"),
      member(customer, "Name"), member(customer, "Phone"), attribute(child(customer, "Phone"), "kind"),
    }
  end)
  check("polymorphism", 2, function()
    return { local_name(attribute(customer, "type")), member(customer, "VatId") }
  end)
  check("list", 3, function()
    local labels = children(child(order, "Labels"), "string")
    return { #labels, labels[1][1], labels[2][1] }
  end)
  check("any", 1, function()
    return { member(order, "crate") }
  end)
  local placed
  check("write", 8, function()
    placed = member(send("PlaceOrder", { order_to_place() }), "PlaceOrderResult")
    local back = get(placed)
    local buyer = child(back, "Customer")
    return {
      member(buyer, "Name"), attribute(child(buyer, "Phone"), "kind"), member(buyer, "VatId"), member(back, "Shipped"),
      member(back, "Total"), member(children(back, "Line")[2], "Article"), member(back, "Invoice"), member(back, "Card"),
    }
  end)
  check("fault", 2, function()
    local ok, message = pcall(get, 404)
    assert(not ok, "expected a fault")
    local hint = tostring(message):match("[<:]hint>(.-)</")
    return { tostring(message):match("[<:]orderId>(%d+)</"), hint and soap.unescape(hint) }
  end)
  check("empty reply", 1, function()
    send("CancelOrder", { { tag = "orderId", placed } })
    return { member(get(placed), "Status") }
  end)
end

if service == "shop" then
  shop()
else
  orders()
end
