// Orders. class Commented
package shop.orders

import kotlin.math.PI

const val LIMIT = 10
val title: String = "fun quoted() {}"
var counter = 0
private val lazyValue by lazy { 1 }
val (left, right) = Pair(1, 2)
typealias Callback<T> = (T) -> Unit

annotation class Audit(val level: Int)

interface Shape {
    val area: Double
    fun draw(canvas: String)
    fun describe() = "shape"
}

sealed class Result<out T> {
    data class Success<T>(val value: T) : Result<T>()
    object Failure : Result<Nothing>()
    data object Pending : Result<Nothing>()
}

enum class Status(val label: String) {
    OPEN("open"),
    CLOSED("closed") {
        override fun isFinal() = true
    };

    open fun isFinal() = false

    companion object {
        fun parse(text: String): Status = OPEN
    }
}

@Deprecated("old")
open class Person(val name: String, protected var age: Int = 0, nickname: String) : Shape {
    constructor(name: String) : this(name, 0, name)

    init {
        val inInit = 1
    }

    override val area: Double
        get() = PI
    lateinit var address: String
    var size: Int = 0
        private set(value) {
            field = value
        }

    override fun draw(canvas: String) {
        val local = 1
        fun helper(n: Int): Int = n
        class Local {
            val n = 1
        }
        val lambda = { n: Int -> n + 1 }
        println("class InString { ${local} }")
    }

    suspend fun <T : Any> load(
        path: String,
        vararg rest: T,
    ): List<T> = emptyList()

    operator fun plus(other: Person): Person = this

    inner class Inner {
        val depth = 1
    }

    companion object Factory {
        const val DEFAULT = "none"
        @JvmStatic fun create() = Person(DEFAULT)
    }
}

object Registry {
    private val items = mutableListOf<String>()
    fun register(item: String) = items.add(item)
}

fun String.shout(): String = uppercase()
fun <T> List<T>.second(): T = this[1]
val String.half: String
    get() = take(length / 2)

fun interface Action {
    fun run()
}

@JvmInline
value class Id(val raw: Long)

fun main(args: Array<String>) {
    val anonymous = object : Action {
        override fun run() {}
    }
    val raw = """
        fun inRawString() {}
    """
}
