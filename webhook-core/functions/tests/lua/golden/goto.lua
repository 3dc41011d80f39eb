for i = 1, 3 do
  for j = 1, 3 do
    if j == 2 then goto continue end
    if i == 3 then goto done end
    print(i, j)
    ::continue::
  end
end
::done::
do
  local i = 1
  ::top::
  if i <= 3 then print("loop", i); i = i + 1; goto top end
end
local n = 0
while true do
  n = n + 1
  if n == 2 then goto next end
  if n > 4 then break end
  print("n", n)
  ::next::
end
for _, v in ipairs({1, 2, 3, 4}) do
  if v % 2 == 0 then goto skip end
  print("odd", v)
  ::skip::
end
repeat
  local x = n
  n = n - 1
  if x == 4 then goto cont end
  print("x", x)
  ::cont::
until n == 0
do goto e; local unused; ::e:: end
local fs = {}
do
  local i = 1
  ::again::
  local c = i
  fs[i] = function() return c end
  i = i + 1
  if i <= 3 then goto again end
end
print(fs[1](), fs[2](), fs[3]())
