before = 1
: no target
= value
define open
after = 2
