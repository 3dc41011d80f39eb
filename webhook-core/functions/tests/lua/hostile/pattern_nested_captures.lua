-- expect: too many captures|pattern too complex|malformed|unfinished
return ("x"):match(("("):rep(40) .. "x" .. (")"):rep(40))
