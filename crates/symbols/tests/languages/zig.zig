//! Queues. fn commented() void {}
const std = @import("std");
const Allocator = std.mem.Allocator;

pub const limit: usize = 10;
var counter: u32 = 0;
threadlocal var per_thread: u8 = 0;
extern var imported: c_int;
extern fn printf(format: [*:0]const u8, ...) c_int;
const text = "fn quoted() void {}";
const multi =
    \\fn inMultiline() void {}
;

pub const Color = enum(u8) {
    red,
    green = 2,
    @"dark blue",
    _,

    pub fn isWarm(self: Color) bool {
        return self == .red;
    }
};

const Point = struct {
    x: f64 = 0,
    y: f64 = 0,

    const origin = Point{};
    var made: u32 = 0;

    pub fn init(x: f64, y: f64) Point {
        const local = x;
        var changing = y;
        const Local = struct {
            n: u8,
            fn run(self: @This()) void {
                _ = self;
            }
        };
        changing = local;
        return .{ .x = x, .y = changing };
    }

    const Nested = packed struct {
        flag: bool,
    };
};

const Number = union(enum) {
    int: i64,
    float: f64,
    none,

    fn isInt(self: Number) bool {
        return self == .int;
    }
};

const Header = extern struct {
    magic: [4]u8,
};

const Handle = opaque {
    fn close(self: *Handle) void {
        _ = self;
    }
};

const ReadError = error{ EndOfStream, Timeout };
const Callback = *const fn (n: i32) void;
const AllErrors = error{Closed} || ReadError;
const Tuple = struct { u8, u16 };

pub fn Queue(comptime T: type) type {
    return struct {
        items: []T,
        const Self = @This();

        pub fn push(self: *Self, item: T) !void {
            _ = self;
            _ = item;
        }
    };
}

export fn exported(a: c_int) c_int {
    return a;
}

inline fn largest(
    a: u32,
    b: u32,
) u32 {
    return if (a > b) a else b;
}

fn @"quoted name"() void {}

test "fn inTestName() void {}" {
    const inTest = 1;
    _ = inTest;
}

test limit {}

comptime {
    const inComptime = 1;
    _ = inComptime;
}

pub fn main() !void {}
