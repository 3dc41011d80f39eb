-- expect: too many headers
for i = 1, 1e6 do r:SetRequestHeader("x-" .. i, "v") end
