fn before(a: u8) u8 {
    return a;
}

const broken = = 3;

const After = struct {
    fn last() u8 {
        return 2;
    }
};
