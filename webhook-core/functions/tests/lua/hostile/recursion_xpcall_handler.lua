-- expect: memory|fuel|compute time|boom
local function h(e) error(e) end xpcall(function() error("boom") end, h) local function r() xpcall(r, r) end r()
