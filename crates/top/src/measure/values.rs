//! Numbers of a column of a block.

use finecomb_sys::simd::{Kernel, Masks, dispatch};

use crate::cells::{Cell, Cells};
use crate::measure::number::{Decimal, NoNumber, POWERS, parse_other, parse_plain, small_power};

/// Units up to this magnitude are narrow. So the extremes of 64 bits are never the units of a value.
const MAX_NARROW: i128 = 1 << 62;

/// The records of a block whose values are added.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rows<'a> {
    /// All, in order.
    All,
    /// Those with these indexes.
    Some(&'a [u32]),
}

/// The values of a field in the records of a block, and the groups of the records.
pub(super) struct Selected<'a> {
    pub(super) groups: &'a [u32],
    pub(super) rows: Rows<'a>,
    pub(super) text: &'a [u8],
    pub(super) cells: &'a Cells,
    pub(super) field: usize,
}

impl Selected<'_> {
    /// Calls `visit` with the group, the index and the cell of each record.
    #[inline(always)]
    pub(super) fn for_each(&self, mut visit: impl FnMut(u32, u32, Cell)) {
        match self.rows {
            Rows::All => self.all().for_each(|(group, row, cell)| visit(group, row, cell)),
            Rows::Some(rows) => self.some(rows).for_each(|(group, row, cell)| visit(group, row, cell)),
        }
    }

    /// The group, the index and the cell of each record, if all are selected.
    #[inline(always)]
    fn all(&self) -> impl Iterator<Item = (u32, u32, Cell)> {
        let column = self.cells.column(self.field);
        self.groups.iter().zip(0..).zip(column).map(|((&group, row), &cell)| (group, row, cell))
    }

    /// The group, the index and the cell of the records `rows`.
    #[inline(always)]
    fn some(&self, rows: &[u32]) -> impl Iterator<Item = (u32, u32, Cell)> {
        let column = self.cells.column(self.field);
        self.groups.iter().zip(rows).map(|(&group, &row)| (group, row, column[row as usize]))
    }
}

/// The numbers of a column of a block, by their units: the numbers times 10^places. The memory is reused.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// Groups and units of the values that fit into 64 bits.
    pub(super) groups: Vec<u32>,
    pub(super) units: Vec<i64>,
    /// Groups and units of all others.
    pub(super) wide_groups: Vec<u32>,
    pub(super) wide: Vec<i128>,
    /// Places of the values as they are written.
    places: Vec<u8>,
    wide_places: Vec<u8>,
    /// The bit of each number of places.
    seen_places: u32,
}

impl Values {
    /// Parses the values of a column. Values that are no numbers are appended to `bad`, with the index of the record. Returns the
    /// maximum number of places.
    pub(super) fn parse(&mut self, selected: &Selected<'_>, bad: &mut Vec<(u32, usize)>) -> u8 {
        self.clear(selected.groups.len());
        dispatch(ParseColumn { values: self, selected, bad });
        self.most_places()
    }

    /// Makes room for `count` narrow values.
    fn clear(&mut self, count: usize) {
        self.groups.resize(count, 0);
        self.units.resize(count, 0);
        self.places.resize(count, 0);
        self.wide_groups.clear();
        self.wide.clear();
        self.wide_places.clear();
        self.seen_places = 0;
    }

    #[cold]
    fn push_wide(&mut self, group: u32, Decimal { units, places }: Decimal) {
        self.wide_groups.push(group);
        self.wide.push(units);
        self.wide_places.push(places);
        self.seen_places |= 1 << places;
    }

    fn most_places(&self) -> u8 {
        self.seen_places.checked_ilog2().unwrap_or(0) as u8
    }

    /// Gives all values this number of places, at least the maximum.
    pub(super) fn rescale(&mut self, places: u8) {
        for (units, own) in self.wide.iter_mut().zip(&self.wide_places) {
            *units *= POWERS[usize::from(places - own)];
        }
        if self.seen_places & !(1 << places) == 0 {
            return;
        }
        let mut kept = 0;
        for index in 0..self.groups.len() {
            let (group, units) = (self.groups[index], self.units[index]);
            let factor = small_power(places - self.places[index]);
            match units.checked_mul(factor).filter(|units| i128::from(*units).abs() <= MAX_NARROW) {
                Some(units) => {
                    self.groups[kept] = group;
                    self.units[kept] = units;
                    kept += 1;
                }
                None => {
                    self.wide_groups.push(group);
                    self.wide.push(i128::from(units) * i128::from(factor));
                }
            }
        }
        self.groups.truncate(kept);
        self.units.truncate(kept);
    }

    pub(super) fn memory(&self) -> usize {
        self.groups.capacity() * 4
            + self.units.capacity() * 8
            + self.places.capacity()
            + self.wide.capacity() * 16
            + self.wide_groups.capacity() * 4
            + self.wide_places.capacity()
    }
}

/// Parses the values of a column.
struct ParseColumn<'a, 's> {
    values: &'a mut Values,
    selected: &'a Selected<'s>,
    bad: &'a mut Vec<(u32, usize)>,
}

impl Kernel for ParseColumn<'_, '_> {
    type Output = ();

    /// The masks are not used, but the instructions for shifts.
    #[inline(always)]
    fn run<M: Masks>(self, _: M) {
        let selected = self.selected;
        match selected.rows {
            Rows::All => self.parse(selected.all()),
            Rows::Some(rows) => self.parse(selected.some(rows)),
        }
    }
}

impl ParseColumn<'_, '_> {
    /// A loop, and no closure: that would be compiled separately, without the instructions of the kernel.
    #[inline(always)]
    fn parse(self, records: impl Iterator<Item = (u32, u32, Cell)>) {
        let Self { values, selected, bad } = self;
        let count = values.groups.len();
        let mut narrow = values.groups.iter_mut().zip(&mut values.units).zip(&mut values.places);
        let mut wide = Vec::new();
        let mut seen_places = 0;
        for (group, row, cell) in records {
            let (text, start, end) = match cell {
                Cell::Missing => continue,
                Cell::Raw(start, end) => (selected.text, start as usize, end as usize),
                Cell::Decoded(..) => {
                    let text = selected.cells.bytes(selected.text, cell).unwrap_or_default();
                    (text, 0, text.len())
                }
            };
            let (units, places) = match parse_plain(text, start, end) {
                Some(number) => number,
                None => match parse_other(text, start, end) {
                    Ok(Decimal { units, places }) if units.abs() <= MAX_NARROW => (units as i64, places),
                    Ok(number) => {
                        wide.push((group, number));
                        continue;
                    }
                    Err(NoNumber::NoValue) => continue,
                    Err(NoNumber::Invalid | NoNumber::OutOfRange) => {
                        bad.push((row, selected.field));
                        continue;
                    }
                },
            };
            seen_places |= 1 << places;
            // There is room for a value of each record.
            if let Some(((to_group, to_units), to_places)) = narrow.next() {
                (*to_group, *to_units, *to_places) = (group, units, places);
            }
        }
        let count = count - narrow.len();
        values.groups.truncate(count);
        values.units.truncate(count);
        values.places.truncate(count);
        values.seen_places |= seen_places;
        wide.into_iter().for_each(|(group, number)| values.push_wide(group, number));
    }
}
