-- expect: not found
require("../../etc/passwd")
