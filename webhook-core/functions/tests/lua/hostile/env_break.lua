-- expect: ok
local g, p, a = _G, pairs, assert g.string = nil g.print = nil for k in p(g) do g[k] = nil end a(("x"):upper() == "X")
