-- Queues. function commented() end
--[[
function inBlockComment() end
]]
local M = {}
M.version = "1.0"
MAX_SIZE = 100
local count, limit <const> = 0, 10
local text = "function quoted() end"
local long = [[
function inLongString() end
]]

local Queue = {}
Queue.__index = Queue

function Queue.new(size)
  local self = setmetatable({}, Queue)
  self.size = size
  local function helper(n) return n end
  local arrow = function(x) return x end
  self.callback = function(x) return x end
  return self
end

function Queue:push(item, ...)
  self[#self + 1] = item
end

function M.util.strings.trim(s)
  return s
end

function global(a, b)
  return a + b
end

local function private(a)
  return a
end

M.twice = function(n) return n * 2 end
local add = function(a, b) return a + b end
first, second = function() end, function() end
M["quoted"] = function() end

local handlers = {
  open = function(path) return path end,
  ["close"] = function() end,
  nested = {
    deep = function() end,
  },
  function() end,
  size = 3,
}

Queue.__add = function(a, b) return a end

if count > 0 then
  function conditional() end
  local inBlock = 1
end

for i = 1, 3 do
  local inLoop = i
end

return M
