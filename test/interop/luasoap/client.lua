-- Makes the checks with LuaSOAP, whose requests and replies are lists of entries.

local client = require("soap.client")

local version, rows = arg[1], arg[2]
local types = "http://schemas.servicestack.net/types"
local instance = "http://www.w3.org/2001/XMLSchema-instance"
local arrays = "http://schemas.microsoft.com/2003/10/Serialization/Arrays"

-- Returns the checks in order: inputs as entries, and the paths to read.
local function table_of_checks()
  local checks, known = {}, {}
  -- no value: nil
  local function entry(entries, path, value)
    local name, rest = path:match("^([^.]+)%.?(.*)$")
    if name == "string" then
      local item, position = { tag = "a:string", attr = { ["xmlns:a"] = arrays } }, rest:match("^%d+$")
      if position then
        item[1] = value
        entries[position + 1] = item
      end
      return
    end
    local found = entries[name]
    if not found then
      found = { tag = name }
      entries[name] = found
      entries[#entries + 1] = found
    end
    if rest == "" then
      found[1] = value
      found.attr = not value and { ["xmlns:i"] = instance, ["i:nil"] = "true" } or nil
    else
      entry(found, rest, value)
    end
  end
  for row in io.lines(rows) do
    local operation, situation, kind, path, value = row:match("^(.-)\t(.-)\t(.-)\t(.-)\t(.*)$")
    local key = operation .. " " .. situation
    if not known[key] then
      known[key] = { operation = operation, situation = situation, input = {}, read = {} }
      checks[#checks + 1] = known[key]
    end
    if kind == "read" then
      table.insert(known[key].read, path)
    elseif kind == "null" then
      entry(known[key].input, path, nil)
    else
      entry(known[key].input, path, (value:gsub("[&<>]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;" })))
    end
  end
  return checks
end

local function child(element, name)
  for _, inner in ipairs(element) do
    if type(inner) == "table" and inner.tag:gsub("^.*:", "") == name then
      return inner
    end
  end
end

local function items(element, name)
  local found = {}
  for _, inner in ipairs(element) do
    if type(inner) == "table" and inner.tag:gsub("^.*:", "") == name then
      found[#found + 1] = inner
    end
  end
  return found
end

-- Returns the text at a path; nil if the path ends early or the element is nil.
local function at(element, path)
  local steps = {}
  for step in path:gmatch("[^.]+") do
    steps[#steps + 1] = step
  end
  local index = 1
  while element and index <= #steps do
    local following = steps[index + 1] or ""
    if following == "#" then
      return tostring(#items(element, steps[index]))
    elseif steps[index] == "?" then
      break
    elseif following:match("^%d+$") then
      element = items(element, steps[index])[following + 1]
      index = index + 2
    else
      element = child(element, steps[index])
      index = index + 1
    end
  end
  local null = element and element.attr and element.attr["i:nil"] == "true"
  if steps[#steps] == "?" then
    return not element and "absent" or null and "nil" or "value"
  end
  if not element or null then
    return nil
  end
  return type(element[1]) == "table" and "" or element[1] or ""
end

local mime = require("mime")
local function printed(element, path)
  local value = at(element, path)
  if not value then
    return "null"
  end
  if path:match("DocumentBytes$") then
    local bytes = mime.unb64(value)
    value = bytes:sub(1, 4) .. " " .. #bytes
  end
  return '"' .. value:gsub('[\\"]', "\\%0"):gsub("%c", " ") .. '"'
end

local function say(check, member, value)
  print(('{"operation":"%s","situation":"%s","%s":%s}'):format(check.operation, check.situation, member, value))
end

for _, check in ipairs(table_of_checks()) do
  local authentication = { tag = "Authentication", { tag = "ApiUserId", "demo" }, { tag = "ApiUserKey", "demo-key" } }
  local entries = { authentication }
  for _, input in ipairs(check.input) do
    entries[#entries + 1] = input
  end
  local ok, namespace, method, reply = pcall(client.call, {
    url = os.getenv(check.situation == "fault" and "FAULT_ENDPOINT" or "ENDPOINT"),
    soapaction = check.operation,
    method = check.operation,
    namespace = types,
    soapversion = tonumber(version),
    entries = entries,
  })
  local data = ok and reply and child(reply, "Data")
  if data then
    local got = {}
    for _, path in ipairs(check.read) do
      got[#got + 1] = printed(data, path)
    end
    say(check, "got", "[" .. table.concat(got, ",") .. "]")
  else
    local why = tostring(ok and method or namespace)
    say(check, "error", '"' .. why:gsub('[\\"]', "\\%0"):gsub("%c", " ") .. '"')
  end
end
