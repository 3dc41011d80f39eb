-- expect: vararg
return function() return ... end
