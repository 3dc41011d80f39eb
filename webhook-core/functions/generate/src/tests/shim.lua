-- Just enough of a script's surroundings to run written functions with plain Lua.
-- Standard input: content type, line break, length of the source, line break, the source, the body.
local function split_input()
  local input = io.read("a")
  local content_type, length, at = input:match("^(.-)\n(%d+)\n()")
  return content_type, input:sub(at, at + tonumber(length) - 1), input:sub(at + tonumber(length))
end

local json = { null = setmetatable({}, { __tostring = function() return "null" end }) }

function json.decode(text)
  local at = 1
  local function skip() at = text:find("[^ \t\r\n]", at) or #text + 1 end
  local value
  local escapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }
  local function hex()
    local code = tonumber(text:match("^%x%x%x%x", at) or error("bad escape"), 16)
    at = at + 4
    return code
  end
  local function string_()
    at = at + 1
    local out = {}
    while true do
      local plain = text:match('^[^"\\]*', at)
      out[#out + 1] = plain
      at = at + #plain
      local c = text:sub(at, at)
      if c == '"' then at = at + 1 return table.concat(out) end
      if c == "" then error("open string") end
      local e = text:sub(at + 1, at + 1)
      at = at + 2
      if e == "u" then
        local code = hex()
        if code >= 0xD800 and code < 0xDC00 and text:sub(at, at + 1) == "\\u" then
          at = at + 2
          code = 0x10000 + (code - 0xD800) * 0x400 + (hex() - 0xDC00)
        end
        out[#out + 1] = utf8.char(code)
      else
        out[#out + 1] = escapes[e] or e
      end
    end
  end
  function value()
    skip()
    local c = text:sub(at, at)
    if c == '"' then return string_() end
    if c == "{" or c == "[" then
      local out, close = {}, c == "{" and "}" or "]"
      at = at + 1
      skip()
      if text:sub(at, at) == close then at = at + 1 return out end
      while true do
        if c == "{" then
          skip()
          local key = string_()
          skip()
          assert(text:sub(at, at) == ":", "no colon")
          at = at + 1
          out[key] = value()
        else
          out[#out + 1] = value()
        end
        skip()
        local mark = text:sub(at, at)
        at = at + 1
        if mark == close then return out end
        assert(mark == ",", "no comma")
      end
    end
    for word, result in pairs({ ["true"] = true, ["false"] = false, null = json.null }) do
      if text:sub(at, at + #word - 1) == word then at = at + #word return result end
    end
    local number = text:match("^-?%d+%.?%d*[eE]?[+-]?%d*", at) or error("bad value at " .. at)
    at = at + #number
    return tonumber(number)
  end
  local ok, result = pcall(function()
    local result = value()
    skip()
    assert(at > #text, "trailing")
    return result
  end)
  if ok then return result end
  return nil, result
end

function json.encode(value)
  local kind = type(value)
  if value == json.null then return "null" end
  if kind == "string" then
    return '"' .. value:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
  end
  if kind == "boolean" then return tostring(value) end
  if kind == "number" then
    assert(value - value == 0, "not a finite number")
    if math.type(value) == "integer" then return ("%d"):format(value) end
    return ("%.17g"):format(value)
  end
  assert(kind == "table", "cannot encode a " .. kind)
  local out, size = {}, 0
  for _ in pairs(value) do size = size + 1 end
  if size == #value then
    for i, item in ipairs(value) do out[i] = json.encode(item) end
    return "[" .. table.concat(out, ",") .. "]"
  end
  for key, item in pairs(value) do
    assert(type(key) == "string", "a list with holes")
    out[#out + 1] = json.encode(key) .. ":" .. json.encode(item)
  end
  return "{" .. table.concat(out, ",") .. "}"
end

local xml = {}
local entities = { lt = "<", gt = ">", amp = "&", quot = '"', apos = "'" }
local function unescape(text)
  return (text:gsub("&(#?)(%w+);", function(hash, name)
    return hash == "#" and utf8.char(tonumber(name)) or entities[name]
  end))
end
local function trimmed(text) return text:match("^%s*(.-)%s*$") end

function xml.decode(document)
  document = document:gsub("<%?.-%?>", ""):gsub("<!%-%-.-%-%->", "")
  local at = 1
  local function add(fields, counts, name, value)
    counts[name] = (counts[name] or 0) + 1
    if counts[name] == 1 then fields[name] = value
    elseif counts[name] == 2 then fields[name] = { fields[name], value }
    else table.insert(fields[name], value) end
  end
  local function element()
    local name, attributes, empty, after = document:match("^%s*<([^%s/>]+)([^>]-)(/?)>()", at)
    at = after
    local fields, counts, text = {}, {}, {}
    for key, _, value in attributes:gmatch("([^%s=]+)%s*=%s*([\"'])(.-)%2") do add(fields, counts, "-" .. key, unescape(value)) end
    while empty == "" do
      local words, next_ = document:match("^([^<]*)()", at)
      text[#text + 1] = unescape(words)
      at = next_
      local cdata, after_cdata = document:match("^<!%[CDATA%[(.-)%]%]>()", at)
      if cdata then
        text[#text + 1] = cdata
        at = after_cdata
      elseif document:sub(at, at + 1) == "</" then
        at = document:find(">", at, true) + 1
        break
      else
        add(fields, counts, element())
      end
    end
    local words = trimmed(table.concat(text))
    if next(fields) == nil then return name, words end
    if words ~= "" then fields["#text"] = words end
    return name, fields
  end
  local name, value = element()
  return { [name] = value }
end

local function escape(text)
  return (tostring(text):gsub('[<>&"]', { ["<"] = "&lt;", [">"] = "&gt;", ["&"] = "&amp;", ['"'] = "&quot;" }))
end
function xml.encode(value)
  local function element(name, content)
    if type(content) ~= "table" then return ("<%s>%s</%s>"):format(name, escape(content), name) end
    if content[1] ~= nil then
      local out = {}
      for _, item in ipairs(content) do out[#out + 1] = element(name, item) end
      return table.concat(out)
    end
    local attributes, inner = "", {}
    for key, item in pairs(content) do
      if key == "#text" then inner[#inner + 1] = escape(item)
      elseif key:sub(1, 1) == "-" then attributes = attributes .. (' %s="%s"'):format(key:sub(2), escape(item))
      else inner[#inner + 1] = element(key, item) end
    end
    return ("<%s%s>%s</%s>"):format(name, attributes, table.concat(inner), name)
  end
  return element(next(value))
end

local function url_decode(text)
  return (text:gsub("+", " "):gsub("%%(%x%x)", function(code) return string.char(tonumber(code, 16)) end))
end
local url = {}
function url.encode_query(object)
  local out = {}
  local function escape_(text)
    return (tostring(text):gsub("[^%w%-_.~]", function(c) return ("%%%02X"):format(c:byte()) end))
  end
  for key, value in pairs(object) do
    for _, item in ipairs(type(value) == "table" and value or { value }) do
      out[#out + 1] = escape_(key) .. "=" .. escape_(item)
    end
  end
  return table.concat(out, "&")
end

-- Go layouts: the elements, longest first where one opens another.
local ELEMENTS = { "January", "Jan", "Monday", "Mon", "MST", "2006", "Z07:00", "-07:00", "-0700", "15", "01", "02", "03",
  "04", "05", "PM", "_2", "06", "1", "2", "3", ".000000", ".000" }
local MONTHS = { "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December" }
local DAYS = { "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday" }
local function elements(layout)
  local out, at = {}, 1
  while at <= #layout do
    local found
    for _, element in ipairs(ELEMENTS) do
      if layout:sub(at, at + #element - 1) == element then found = element break end
    end
    out[#out + 1] = found and { element = found } or { literal = layout:sub(at, at) }
    at = at + (found and #found or 1)
  end
  return out
end
local time = {}
function time.format(seconds, layout, zone)
  assert(zone == "UTC", "UTC only")
  local micros = math.floor(seconds * 1000000 + 0.5)
  local t = os.date("!*t", micros // 1000000)
  micros = micros % 1000000
  local hour12 = (t.hour + 11) % 12 + 1
  local shown = {
    January = MONTHS[t.month], Jan = MONTHS[t.month]:sub(1, 3), Monday = DAYS[t.wday], Mon = DAYS[t.wday]:sub(1, 3),
    MST = "UTC", ["2006"] = ("%04d"):format(t.year), ["06"] = ("%02d"):format(t.year % 100), ["Z07:00"] = "Z",
    ["-07:00"] = "+00:00", ["-0700"] = "+0000", ["15"] = ("%02d"):format(t.hour), ["03"] = ("%02d"):format(hour12),
    ["3"] = tostring(hour12), ["01"] = ("%02d"):format(t.month), ["1"] = tostring(t.month), ["02"] = ("%02d"):format(t.day),
    ["_2"] = ("%2d"):format(t.day), ["2"] = tostring(t.day), ["04"] = ("%02d"):format(t.min), ["05"] = ("%02d"):format(t.sec),
    PM = t.hour < 12 and "AM" or "PM", [".000"] = (".%03d"):format(micros // 1000), [".000000"] = (".%06d"):format(micros),
  }
  local out = {}
  for _, part in ipairs(elements(layout)) do out[#out + 1] = part.literal or shown[part.element] end
  return table.concat(out)
end
local function days(y, m, d)
  y = m <= 2 and y - 1 or y
  local era, yoe = y // 400, y % 400
  local doy = (153 * (m + (m > 2 and -3 or 9)) + 2) // 5 + d - 1
  return era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719468
end
function time.parse(text, layout)
  local t, at, fraction, offset, afternoon = { year = 0, month = 1, day = 1, hour = 0, min = 0, sec = 0 }, 1, 0, 0, nil
  local function take(pattern)
    local found = text:match("^" .. pattern, at)
    if not found then error("does not fit") end
    at = at + #found
    return found
  end
  local function name(names, short)
    for i, n in ipairs(names) do
      n = short and n:sub(1, 3) or n
      if text:sub(at, at + #n - 1):lower() == n:lower() then at = at + #n return i end
    end
    error("no name")
  end
  local fields = { ["2006"] = { "year", "%d%d%d%d" }, ["15"] = { "hour", "%d%d" }, ["03"] = { "hour", "%d%d" }, ["3"] = { "hour", "%d%d?" },
    ["01"] = { "month", "%d%d" }, ["1"] = { "month", "%d%d?" }, ["02"] = { "day", "%d%d" }, ["2"] = { "day", "%d%d?" }, ["_2"] = { "day", " ?%d%d?" },
    ["04"] = { "min", "%d%d" }, ["05"] = { "sec", "%d%d" } }
  local ok = pcall(function()
    local list = elements(layout)
    for i, part in ipairs(list) do
      local element = part.element
      if part.literal then take(part.literal:gsub("%p", "%%%0"))
      elseif fields[element] then
        t[fields[element][1]] = tonumber(take(fields[element][2]))
        local following = list[i + 1] and list[i + 1].element
        if element == "05" and following ~= ".000" and following ~= ".000000" then
          local more = text:match("^%.%d+", at)
          if more then fraction, at = tonumber("0" .. more), at + #more end
        end
      elseif element == "January" or element == "Jan" then t.month = name(MONTHS, element == "Jan")
      elseif element == "Monday" or element == "Mon" then name(DAYS, element == "Mon")
      elseif element == "MST" then local zone = take("%u%u%u") assert(zone == "UTC" or zone == "GMT")
      elseif element == "PM" then local half = take("%a%a"):upper() assert(half == "AM" or half == "PM") afternoon = half == "PM"
      elseif element == ".000" or element == ".000000" then fraction = tonumber("0" .. take("%." .. ("%d"):rep(#element - 1)))
      elseif element == "Z07:00" and text:sub(at, at) == "Z" then at = at + 1
      else
        local sign, h, m = take("[+-]"), take("%d%d"), nil
        if element ~= "-0700" then take(":") end
        m = take("%d%d")
        offset = (tonumber(h) * 3600 + tonumber(m) * 60) * (sign == "-" and -1 or 1)
      end
    end
    assert(at > #text)
    if afternoon ~= nil then t.hour = t.hour % 12 + (afternoon and 12 or 0) end
    local leap = t.year % 4 == 0 and (t.year % 100 ~= 0 or t.year % 400 == 0)
    local length = ({ 31, leap and 29 or 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 })[t.month]
    assert(length and t.day >= 1 and t.day <= length and t.hour < 24 and t.min < 60 and t.sec < 60)
  end)
  if not ok then return nil, "cannot parse" end
  return days(t.year, t.month, t.day) * 86400 + t.hour * 3600 + t.min * 60 + t.sec - offset + fraction
end

local content_type, source, body = split_input()
local r = { RequestBody = body, answered = body }
if content_type:find("form") then
  r.RequestFormData = {}
  for pair in body:gmatch("[^&]+") do
    local key, value = pair:match("^(.-)=(.*)$")
    key = url_decode(key)
    r.RequestFormData[key] = r.RequestFormData[key] or {}
    table.insert(r.RequestFormData[key], url_decode(value))
  end
end
function r:SetRequestBody(text)
  assert(type(text) == "string", "the body is not a text")
  self.answered = text
end
function r:SetRequestHeader() end
local modules = { json = json, xml = xml, url = url, time = time }
local environment = setmetatable({ r = r, require = function(name) return assert(modules[name], name) end }, { __index = _G })
assert(load(source, "=function", "t", environment))()
io.write(r.answered)
