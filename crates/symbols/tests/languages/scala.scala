// Orders. class Commented
package shop
package orders

import scala.collection.mutable

/* object InComment { /* nested */ } */
val limit: Int = 10
var counter = 0
lazy val config = "def quoted() = 1"
val (left, right) = (1, 2)
type Callback[T] = T => Unit
opaque type Id = Long

trait Shape[+T] extends Serializable {
  type Output
  val sides: Int
  var color: String
  def area: Double
  def describe(prefix: String = ""): String = prefix
}

sealed abstract class Order[T <: AnyRef](val name: String, private var count: Int, plain: Int)(implicit ordering: Ordering[T]) extends Shape[T] {
  private val items = mutable.Buffer.empty[T]
  protected[this] var total, tax = 0.0

  def this(name: String) = this(name, 0, 0)

  @deprecated("old")
  override def area: Double = {
    val local = 1
    var changing = 2
    def helper(n: Int): Int = n
    class Local { val n = 1 }
    val lambda = (n: Int) => n + 1
    0.0
  }

  def +(other: Order[T]): Order[T] = this
  def unary_! : Boolean = false
  def `quoted name`(x: Int) = x

  def curried[U](a: Int)(b: U)(
    implicit c: Ordering[U]
  ): U = b

  object Inner {
    val depth = 1
  }
}

case class Point(x: Double, y: Double)

case object Origin extends Point(0, 0)

object Order {
  final val Default = "none"
  def apply(name: String): Int = 1
  implicit class Rich(val text: String) extends AnyVal {
    def shout: String = text.toUpperCase
  }
}

enum Color(val rgb: Int) {
  case Red extends Color(0xff0000)
  case Green, Blue
  case Mix(mix: Int) extends Color(mix)
  def hex: String = rgb.toHexString
}

package object util {
  def twice(n: Int): Int = n * 2
}

given intOrdering: Ordering[Int] with
  def compare(a: Int, b: Int): Int = a - b

given Ordering[String] = ???

extension (s: String)
  def half: String = s.take(s.length / 2)
  def third(n: Int): String = s

class Indented(n: Int):
  val twice = n * 2
  def run(): Unit =
    val local = twice
    println(local)
end Indented

implicit val ordering: Ordering[Point] = ???
val raw = """
def inRawString() = 1
"""

@main def start(args: String*): Unit = println(s"class InString ${limit}")
