defmodule A do
  def before, do: 1
  def broken(, do: 2
  def later, do: 3
end

defmodule B do
  def after_it, do: 4
