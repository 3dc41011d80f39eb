-- expect: memory|fuel
local all = {} while true do all[#all + 1] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, a = 1, b = 2} end
