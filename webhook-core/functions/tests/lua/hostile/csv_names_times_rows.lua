-- expect: memory
require('csv').decode(('n'):rep(1e6) .. '\n' .. ('a\n'):rep(3e6), {header = true})
