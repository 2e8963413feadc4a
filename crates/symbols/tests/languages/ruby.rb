# Orders. class Commented; end
require 'json'

=begin
def in_block_comment; end
=end

VERSION = '1.0'
LIMITS = { low: 1 }.freeze
FIRST, SECOND = 1, 2
$global = 1
$memo ||= 2
alias $renamed $global
local = 'def quoted; end'

module Shop
  TAX = 0.2

  module_function

  def round(value, digits: 2)
    value.round(digits)
  end

  class Order < Base
    include Comparable
    attr_accessor :name, :count
    attr_reader 'total'
    attr_writer :secret, :"quoted", :"#{local}_name"

    STATES = %i[open closed].freeze
    @@made = 0
    @registry = {}

    def initialize(name, *rest, key:, option: 1, **options, &block)
      @name = name
      inner = 1
      def nested; end
    end

    def self.create(name) = new(name)

    class << self
      def build
        new('x')
      end

      attr_accessor :config
    end

    def ==(other)
      name == other.name
    end

    def [](index) = @items[index]
    def +(other) = self
    def -@ = self
    def empty? = true
    def save! = nil
    def name=(value)
      @name = value
    end

    private def hidden; end

    alias total count
    alias :sum :count
    attr :plain
    alias_method :size, :count
    define_method(:dynamic) { |n| n }

    Point = Struct.new(:x, :y) do
      def length; end
    end

    class Line; end
    class Missing < StandardError; end
  end
end

class Shop::Invoice < Shop::Order
  def print_out; end
end

module Shop::Reports
end

def top_level(a, b = 2)
  text = <<~TEXT
    def in_heredoc; end
  TEXT
  text
end

def Shop.helper; end
Error = Class.new(StandardError)
square = ->(n) { n * n }
Shop::LATE = 3
