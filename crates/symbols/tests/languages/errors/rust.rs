fn before(a: u8) -> u8 { a }

const BROKEN = = 3;

struct After {
    member: u8,
}

impl After {
    fn last(&self) -> u8 { 2 }
}
