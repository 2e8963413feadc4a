func before(a: Int) -> Int { return a }

let broken = = 3

struct After {
    func last() -> Int { return 2 }
}
