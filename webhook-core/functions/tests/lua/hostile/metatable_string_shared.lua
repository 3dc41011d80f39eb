-- expect: ok
string.upper = function() return "changed" end assert(("x"):upper() == "changed")
