-- A nested field; nil when any part of the way is missing.
local function get(value, ...)
  for _, key in ipairs({ ... }) do
    if type(value) ~= "table" then return nil end
    value = value[key]
  end
  return value
end

-- A list to walk through; empty when it is missing.
local function list(value)
  if type(value) == "table" then return value end
  return {}
end

-- What the function makes of each element; an element of which it makes nothing is left out.
local function each(value, make)
  local out = {}
  for _, item in ipairs(list(value)) do
    local made = make(item)
    if made ~= nil then out[#out + 1] = made end
  end
  return out
end

-- The elements for which the test is true.
local function filter(value, test)
  local out = {}
  for _, item in ipairs(list(value)) do
    if test(item) then out[#out + 1] = item end
  end
  return out
end

-- The elements of the lists in a list.
local function flat(value)
  local out = {}
  for _, items in ipairs(value) do
    for _, item in ipairs(items) do out[#out + 1] = item end
  end
  return out
end

-- A list in the order of a field: numbers, then texts, then the elements that have neither.
local function sorted(value, descending, ...)
  local out, ranks = {}, { number = 1, string = 2 }
  for at, item in ipairs(list(value)) do
    local field = get(item, ...)
    out[at] = { item = item, at = at, field = field, rank = ranks[type(field)] or 3 }
  end
  table.sort(out, function(a, b)
    if a.rank ~= b.rank then return (a.rank < b.rank) ~= descending end
    if a.rank < 3 and a.field ~= b.field then return (a.field < b.field) ~= descending end
    return a.at < b.at
  end)
  for at, entry in ipairs(out) do out[at] = entry.item end
  return out
end

-- Keeps the place of an absent element in a list.
local function or_null(value)
  if value == nil then return json.null end
  return value
end

-- A text, number or boolean as text; nil for anything else.
local function to_text(value)
  local kind = type(value)
  if kind == "string" then return value end
  if kind == "boolean" then return tostring(value) end
  if kind ~= "number" then return nil end
  if math.type(value) == "integer" then return ("%d"):format(value) end
  if value == math.floor(value) then return ("%.0f"):format(value) end
  return ("%.14g"):format(value)
end

-- The same for a place in a text: empty when the value is missing.
local function text(value)
  return to_text(value) or ""
end

-- The texts in a list as one text.
local function join(value, separator, ...)
  if value == nil then return nil end
  local texts = {}
  for _, item in ipairs(list(value)) do
    local shown = to_text(get(item, ...))
    if shown then texts[#texts + 1] = shown end
  end
  return table.concat(texts, separator)
end

-- A number as an integer where it is one.
local function whole(number)
  if number == math.floor(number) and math.abs(number) <= 9007199254740992 then
    return math.floor(number)
  end
  return number
end

-- A calculated number without the noise of binary fractions.
local function tidy(number)
  if number == math.floor(number) or math.abs(number) >= 1e9 then return whole(number) end
  return whole(math.floor(number * 1e6 + 0.5) / 1e6)
end

-- A number, or the number that a text is; nil for anything else.
local function to_number(value)
  if type(value) == "number" then return value end
  if type(value) ~= "string" or not value:find("^%s*[+-]*%d[%d.eE+-]*%s*$") then return nil end
  local number = tonumber(value)
  if not number or number - number ~= 0 then return nil end
  return whole(number)
end

local function at_least(value, least)
  local number = to_number(value)
  return number ~= nil and number >= least
end

local function below(value, limit)
  local number = to_number(value)
  return number ~= nil and number < limit
end

-- Multiplied, to the nearest whole number.
local function times(value, factor)
  if type(value) ~= "number" then return nil end
  return whole(math.floor((value + 0.0) * factor + 0.5))
end

local function divide(value, divisor)
  if type(value) ~= "number" then return nil end
  return tidy(value / divisor)
end

-- A number as text with this number of decimals.
local function fixed(value, decimals)
  if type(value) ~= "number" then return nil end
  return ("%." .. decimals .. "f"):format(value)
end

-- The same with a comma between thousands.
local function grouped(value, decimals)
  local plain = fixed(value, decimals)
  if not plain then return nil end
  local sign, digits, rest = plain:match("^(%-?)(%d+)(.*)$")
  if not digits then return plain end
  digits = digits:reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "")
  return sign .. digits .. rest
end

local function count(value)
  return #list(value)
end

-- The sum of a field of each element.
local function sum(value, ...)
  local total = 0.0
  for _, item in ipairs(list(value)) do total = total + (to_number(get(item, ...)) or 0) end
  return tidy(total)
end

-- The sum of one field for each text in another; without a field, how many elements have the text.
local function sum_by(value, key, summed)
  local sums = {}
  for _, item in ipairs(list(value)) do
    local name = to_text(get(item, key)) or ""
    local more = summed and (to_number(get(item, summed)) or 0) or 1
    if name ~= "" then sums[name] = (sums[name] or 0.0) + more end
  end
  for name, total in pairs(sums) do sums[name] = tidy(total) end
  return sums
end

local function upper(value)
  if type(value) ~= "string" then return nil end
  return value:upper()
end

-- A moment in seconds since 1970: from a text in this layout, or from a number in parts of a second.
local function read_time(value, form)
  local seconds
  if type(form) == "number" then
    local number = to_number(value)
    seconds = number and number / form
  elseif type(value) == "string" then
    seconds = time.parse(value, form)
  end
  if not seconds or seconds < -62135596800 or seconds >= 253402300800 then return nil end
  return seconds
end

-- A moment as text in this layout, in UTC, or as a number in parts of a second.
local function write_time(seconds, form)
  if not seconds then return nil end
  if type(form) == "number" then return math.floor(math.floor(seconds * 1000 + 0.5) * form / 1000) end
  local shown = time.format(seconds, form, "UTC")
  return shown
end
