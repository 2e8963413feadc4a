//! Orders. fn commented() {}
#![allow(dead_code)]

use std::fmt;

mod elsewhere;
const LIMIT: usize = 10;
static mut COUNTER: u32 = 0;
static TEXT: &str = "fn quoted() {}";
type Result<T> = std::result::Result<T, Error>;
const _: () = assert!(LIMIT > 1);
extern crate alloc;

/* fn in_comment() {} /* nested */ */
#[derive(Debug, Clone)]
pub struct Order<'a, T: Clone = u8>
where
    T: fmt::Debug,
{
    pub name: &'a str,
    pub(crate) items: Vec<T>,
    r#type: u8,
}

struct Point(pub f64, f64);
struct Unit;

union Bits {
    int: u32,
    float: f32,
}

#[repr(u8)]
pub enum Status {
    Open = 1,
    Paid(u32),
    Closed { reason: String },
}

pub trait Shape: fmt::Debug {
    type Output;
    type Many<'a> where Self: 'a;
    const SIDES: usize = 0;
    fn area(&self) -> f64;
    fn describe(&self) -> String {
        String::from(r#"fn in_raw_string() {}"#)
    }
}

impl<'a, T: Clone + fmt::Debug> Order<'a, T> {
    pub const MAX: usize = 3;

    pub fn new(name: &'a str) -> Self {
        let local = 1;
        const INNER: u8 = 1;
        static INNER_STATIC: u8 = 1;
        fn helper(n: u32) -> u32 { n }
        struct Local { n: u8 }
        impl Local { fn run(&self) {} }
        let closure = |n: u32| n + 1;
        Self { name, items: Vec::new() }
    }

    async unsafe fn load<P>(
        &self,
        path: P,
    ) -> Option<T>
    where
        P: Into<String>,
    {
        None
    }
}

impl Shape for Point {
    type Output = f64;
    type Many<'a> = u8;
    fn area(&self) -> f64 { self.0 }
}

impl<T> From<T> for Box<dyn Shape<Output = T>> {
    fn from(value: T) -> Self { Box::new(Point(value)) }
}

impl fmt::Display for self::inner::Deep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { Ok(()) }
}

impl Shape for &mut [u8] { fn area(&self) -> f64 { 0.0 } }
impl<A, B> Pair for (A, B) { fn both(&self) {} }

mod inner {
    pub struct Deep;
    pub(super) mod deeper {
        pub fn function() {}
    }
}

macro_rules! square {
    ($x:expr) => { $x * $x };
    (define $name:ident) => { fn $name() {} };
}

extern "C" {
    fn imported(n: i32) -> i32;
    static imported_static: i32;
}

pub extern "C" fn exported(n: i32) -> i32 { n }
union_like!(fn in_macro() {});
thread_local! {
    static LOCAL_KEY: u8 = 1;
}

fn main() {}

#[cfg(test)]
mod tests {
    #[test]
    fn works() {}
}
