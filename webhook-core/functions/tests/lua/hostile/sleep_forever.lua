-- expect: total time
require("time").sleep(1e9)
