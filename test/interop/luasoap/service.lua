-- The service of an OpenAPI document, called with LuaSOAP: service.lua SERVICE WSDL_URL OUT_DIR

local client = require("soap.client")

local address = arg[2]:gsub("%?wsdl$", "")

local function local_name(element)
  return (element.tag:gsub("^.*:", ""))
end

local function child(element, name)
  for _, inner in ipairs(element or {}) do
    if type(inner) == "table" and local_name(inner) == name then
      return inner
    end
  end
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

local function call(operation, entries)
  local _, _, reply = client.call({
    url = address, soapaction = operation, namespace = "urn:Shop", method = operation, entries = entries,
  })
  return reply
end

local function get(id)
  return child(call("getItem", { { tag = "id", id } }), "Result")
end

local function member(item, name)
  local found = child(item, name)
  return found and found[1]
end

local function members(item, names)
  local values = {}
  for index, name in ipairs(names) do
    values[index] = member(item, name)
  end
  return values
end

-- An element as LuaSOAP sends it: without the namespace of the reply.
local function entry(element)
  local made = { tag = local_name(element) }
  for index, inner in ipairs(element) do
    made[index] = type(inner) == "table" and entry(inner) or inner
  end
  return made
end

local item = get(1)
check("read", 11, function()
  local values = members(item, { "name", "price", "weight", "stock", "added", "expires", "rating", "returnable", "note" })
  local tags = child(item, "tags")
  values[10], values[11] = #tags, tags[2][1]
  return values
end)
check("change", 4, function()
  local body = entry(item)
  body.tag = "Body"
  child(body, "name")[1] = "Ö &amp; Co"
  call("putItem", { { tag = "id", 1 }, body })
  return members(get(1), { "name", "price", "weight", "rating" })
end)
check("fault", 1, function()
  local ok, text = pcall(get, 404)
  return { not ok and tostring(text):match("<status>(%d+)</status>") or nil }
end)
