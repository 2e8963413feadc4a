defmodule My.App do
  @moduledoc """
  def in_doc do
  """
  use GenServer
  @type t :: %__MODULE__{a: integer}
  @callback init(x :: term) :: term
  @max 5
  defstruct [:a, b: 1]
  defdelegate size(x), to: Map
  def f(0), do: 1
  def f(n) when n > 0 do
    def_inner = 1
    n
  end
  defp priv(a, b \\ 1), do: a
  defmacro mac(x) do
    quote do
      def generated(x), do: x
    end
  end
  defguard is_ok(x) when x > 1
  def a <<< b, do: a
  def no_args do
  end
  defmodule Inner do
    defexception message: "x"
  end
end
defprotocol Size do
  def size(x)
end
defimpl Size, for: Map do
  def size(m), do: 1
end
defmodule T do
  test "name of it", %{x: x} do
  end
  describe "group" do
    test "inner" do
    end
  end
end

defmodule Forms do
  # def commented, do: 1
  @typep name(a) :: {a, String.t()} when a: term
  @opaque hidden :: term
  @macrocallback wrap(term) :: Macro.t()
  @doc "def in_string, do: 1"
  @spec reply(term) :: term
  @limit 5
  @limit 6
  @unset

  defstruct name: nil, "quoted field": 1
  defguardp is_small(n) when n < @limit
  defmacrop twice(x), do: x
  def -a, do: a
  def a and b when is_map(a), do: b

  def reply(
        %{a: a} = map,
        default \\ 1
      )
      when is_map(map) do
    @limit
    local = fn x -> x end
    ~s(def in_sigil do)
  end

  def unquote(generated)(x), do: x
  def exists?, do: true
  def save!(), do: :ok
end
