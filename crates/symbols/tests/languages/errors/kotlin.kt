fun before(a: Int): Int = a

val broken = = 3

class After {
    fun last(): Int = 2
}
