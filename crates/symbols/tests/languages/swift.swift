// Orders. class Commented {}
import Foundation

/* func inComment() {} /* nested */ */
let limit = 10
var counter: Int = 0, other = 1
let (left, right) = (1, 2)
var computed: Int { return counter * 2 }
typealias Callback<T> = (T) -> Void
let text = "func quoted() {}"

protocol Shape: AnyObject {
    associatedtype Output
    var area: Double { get }
    static var sides: Int { get set }
    func draw(on canvas: String)
    init(name: String)
    subscript(index: Int) -> Int { get }
}

enum Status: String, CaseIterable {
    case open, closed = "done"
    case failed
    var label: String { rawValue }
    static func parse(_ text: String) -> Status { .open }
}

indirect enum Tree<T> {
    case leaf
    case node(Tree<T>, value: T, Tree<T>)
}

struct Point<T: Numeric>: Equatable {
    var x, y: T
    let name = "p"
    static let origin = 0
    private(set) var count: Int = 0 {
        willSet { print(newValue) }
        didSet { let inObserver = oldValue }
    }
    lazy var lazyValue: Int = {
        let inClosure = 1
        return inClosure
    }()
    init(x: T) { self.x = x; self.y = x }
    init?(text: String) { return nil }
    static func + (a: Point, b: Point) -> Point { return a }
    subscript(index: Int) -> T {
        get { return x }
        set { x = newValue }
    }
    mutating func move(by dx: T, _ dy: T = 0) async throws -> Void {
        let local = 1
        var changing = 2
        func helper(n: Int) -> Int { return n }
        struct Local { var n = 1 }
        let closure = { (n: Int) in n + 1 }
    }
    struct Nested {
        let depth = 1
    }
}

@available(iOS 13, *)
public final class Order<T>: NSObject, Shape where T: Codable {
    weak var delegate: AnyObject?
    class var shared: Order { fatalError() }
    @Published private var items: [T] = []
    required init(name: String) {}
    deinit { print("class InString {}") }
    override func draw(on canvas: String) {}
    class func create<U>(
        name: String,
        with value: U
    ) -> U { return value }
    @objc dynamic func tapped() {}
}

extension Order: CustomStringConvertible {
    var description: String { "order" }
    func extended() {}
    enum Mode { case fast }
}

extension Array where Element == Int {
    var sum: Int { reduce(0, +) }
}

actor Counter {
    private var value = 0
    func increment() { value += 1 }
}

infix operator **: MultiplicationPrecedence
precedencegroup Power { higherThan: MultiplicationPrecedence }
func ** (base: Double, exponent: Double) -> Double { return pow(base, exponent) }

func largest<T: Comparable>(_ a: T, _ b: T) -> T {
    return a > b ? a : b
}

macro stringify(_ value: Int) -> String = #externalMacro(module: "Macros", type: "Stringify")

let handler: (Int) -> Int = { $0 * 2 }
let raw = """
func inMultiline() {}
"""

#if DEBUG
func debugOnly() {}
#endif
