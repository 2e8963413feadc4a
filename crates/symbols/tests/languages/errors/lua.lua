local function before(a) return a end

local broken = = 3

function after(a)
  return a
end
