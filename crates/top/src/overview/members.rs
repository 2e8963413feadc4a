//! The columns of the members of objects and of the pairs of logfmt, whose names are found while they are read.

use std::collections::{HashMap, HashSet};

use twox_hash::XxHash3_128;

use crate::cells::{Cell, Cells, Malformed, Span, Violation};
use crate::overview::fields::{Admitted, FieldKey, FieldSet};
use crate::query::field::{Field, Name, Step};
use crate::records::format::json::all::{self as members, MemberVisitor};
use crate::records::format::logfmt::all as pairs;
use crate::records::named_fields::flat;

/// Index of the root.
const ROOT: usize = 0;

/// Number of nodes from which on the tree is made anew. A set of fields has fewer, unless most of them have been dropped.
const MAX_NODES: usize = 1 << 13;

/// A path of keys. There is a node for each field that is or was kept, and for the objects around it.
#[derive(Debug, Default)]
struct Node {
    /// The keys below it, each with its node, in the order in which they came first.
    children: Vec<(Box<[u8]>, usize)>,
    /// The index of each key among the children.
    index: HashMap<Box<[u8]>, usize>,
    /// Index of the child that is expected next: records mostly have the same keys in the same order.
    next: usize,
    /// Number of the last record with this path.
    record: u64,
    field: Option<FieldKey>,
}

/// An object that is being walked.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// `None` if the tree has no path in it.
    node: Option<usize>,
    /// Hash of the path.
    path: u128,
}

/// The tree of paths, and the scratch memory of a worker.
#[derive(Debug)]
pub(super) struct MemberTree {
    nodes: Vec<Node>,
    /// Number of the record.
    record: u64,
    frames: Vec<Frame>,
    /// The last key of each object that is being walked. Only those of the frames are valid.
    keys: Vec<Vec<u8>>,
    /// The node of the last key.
    last: Option<usize>,
    /// Hashes of the paths of the record that were not in the tree.
    unknown: HashSet<u128>,
    /// The fields of the record.
    touched: Vec<FieldKey>,
    /// The row of the block in which a field comes first, and its number there, by slot.
    firsts: Vec<Option<(u32, u32)>>,
    malformed: Vec<Malformed>,
}

impl Default for MemberTree {
    fn default() -> Self {
        Self {
            nodes: vec![Node::default()],
            record: 0,
            frames: Vec::new(),
            keys: Vec::new(),
            last: None,
            unknown: HashSet::new(),
            touched: Vec::new(),
            firsts: Vec::new(),
            malformed: Vec::new(),
        }
    }
}

/// How paths are written as the names of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Naming {
    Nested,
    Flat,
}

/// Fills the columns of the fields of a set, by slot.
struct ColumnFiller<'a> {
    tree: &'a mut MemberTree,
    fields: &'a mut FieldSet,
    cells: &'a mut Cells,
    naming: Naming,
    rows: usize,
    row: usize,
}

/// The slots of the fields that appear in a block, each with the row in which it comes first, and its number there.
pub(super) type Firsts = Vec<(usize, (u32, u32))>;

impl MemberTree {
    /// Extracts all members of records that are objects of JSON.
    pub(super) fn members(
        &mut self,
        fields: &mut FieldSet,
        (text, records): (&[u8], &[Span]),
        cells: &mut Cells,
    ) -> Firsts {
        members::visit(text, records, &mut self.filler(fields, cells, Naming::Nested, records.len()));
        self.finish(cells)
    }

    /// Extracts all pairs of records of logfmt.
    pub(super) fn pairs(
        &mut self,
        fields: &mut FieldSet,
        (text, records): (&[u8], &[Span]),
        cells: &mut Cells,
    ) -> Firsts {
        let mut filler = self.filler(fields, cells, Naming::Flat, records.len());
        for &record in records {
            filler.begin();
            let outcome = pairs::visit(text, record, |key, value| {
                if filler.key(key) {
                    let cell = value.cell(text, filler.cells);
                    filler.value(cell);
                }
            });
            filler.end(outcome);
        }
        self.finish(cells)
    }

    fn filler<'a>(
        &'a mut self,
        fields: &'a mut FieldSet,
        cells: &'a mut Cells,
        naming: Naming,
        rows: usize,
    ) -> ColumnFiller<'a> {
        if self.nodes.len() > MAX_NODES {
            *self = Self { record: self.record, ..Self::default() };
        }
        self.firsts.clear();
        self.firsts.resize(fields.len(), None);
        cells.reset(0);
        cells.widen(fields.len(), rows);
        ColumnFiller { tree: self, fields, cells, naming, rows, row: 0 }
    }

    fn finish(&mut self, cells: &mut Cells) -> Firsts {
        for malformed in self.malformed.drain(..) {
            cells.report(malformed.record as usize, (malformed.at as usize, malformed.reason));
        }
        let firsts = self.firsts.iter().enumerate();
        firsts.filter_map(|(slot, first)| Some((slot, (*first)?))).collect()
    }

    /// The node at a key of a node.
    fn child(&mut self, node: usize, key: &[u8]) -> Option<usize> {
        let node = &mut self.nodes[node];
        let index = match node.children.get(node.next) {
            Some((expected, _)) if **expected == *key => node.next,
            _ => *node.index.get(key)?,
        };
        node.next = index + 1;
        Some(node.children[index].1)
    }

    /// The node of the path of the last key, which is made if there is none. All of its nodes are in the record.
    fn make_path(&mut self) -> usize {
        let mut node = ROOT;
        for depth in 0..self.frames.len() {
            let key = std::mem::take(&mut self.keys[depth]);
            node = self.child(node, &key).unwrap_or_else(|| {
                let child = self.nodes.len();
                self.nodes.push(Node::default());
                let node = &mut self.nodes[node];
                node.index.insert(key[..].into(), node.children.len());
                node.children.push((key[..].into(), child));
                child
            });
            self.nodes[node].record = self.record;
            self.keys[depth] = key;
        }
        node
    }

    /// The name of the field at the path of the last key.
    fn name(&self, naming: Naming) -> String {
        let keys = self.keys[..self.frames.len()].iter();
        let keys: Vec<String> = keys.map(|key| String::from_utf8_lossy(key).into_owned()).collect();
        let text = keys.join(".");
        match naming {
            Naming::Flat => flat(&text).written(),
            Naming::Nested => {
                Field::Named(Name { text, path: keys.into_iter().map(Step::Key).collect() }).written()
            }
        }
    }
}

impl ColumnFiller<'_> {
    /// The field at the path of the last key, if it is kept.
    fn field(&mut self) -> Option<FieldKey> {
        let known = self.tree.last.and_then(|node| self.tree.nodes[node].field);
        if let Some(known) = known.filter(|known| self.fields.is_kept(*known)) {
            return Some(known);
        }
        let name = self.tree.name(self.naming);
        let Admitted { field, is_new } = self.fields.admit(self.tree.frames.len() as u16, &name)?;
        if is_new {
            // The slot may have been that of another field.
            self.cells.widen(self.fields.len(), self.rows);
            self.cells.columns_mut()[field.slot].fill(Cell::Missing);
            self.tree.firsts.resize(self.fields.len(), None);
            self.tree.firsts[field.slot] = None;
        }
        let node = self.tree.make_path();
        self.tree.nodes[node].field = Some(field);
        Some(field)
    }
}

impl MemberVisitor for ColumnFiller<'_> {
    fn cells(&mut self) -> &mut Cells {
        self.cells
    }

    fn begin(&mut self) {
        self.tree.record += 1;
        self.tree.frames.clear();
        self.tree.frames.push(Frame { node: Some(ROOT), path: 0 });
        self.tree.nodes[ROOT].next = 0;
        if self.tree.keys.is_empty() {
            self.tree.keys.push(Vec::new());
        }
        self.tree.unknown.clear();
        self.tree.touched.clear();
    }

    fn key(&mut self, key: &[u8]) -> bool {
        let tree = &mut *self.tree;
        let Some(&frame) = tree.frames.last() else { return false };
        let own = &mut tree.keys[tree.frames.len() - 1];
        own.clear();
        own.extend_from_slice(key);
        tree.last = frame.node.and_then(|node| tree.child(node, key));
        match tree.last {
            Some(node) => std::mem::replace(&mut tree.nodes[node].record, tree.record) != tree.record,
            None => tree.unknown.insert(hash(frame.path, key)),
        }
    }

    fn enter(&mut self) {
        let tree = &mut *self.tree;
        let Some(frame) = tree.frames.last() else { return };
        let path = hash(frame.path, &tree.keys[tree.frames.len() - 1]);
        if let Some(node) = tree.last {
            tree.nodes[node].next = 0;
        }
        tree.frames.push(Frame { node: tree.last, path });
        if tree.keys.len() < tree.frames.len() {
            tree.keys.push(Vec::new());
        }
    }

    fn leave(&mut self) {
        self.tree.frames.pop();
    }

    fn value(&mut self, value: Cell) {
        if let Some(field) = self.field() {
            self.cells.set(field.slot, self.row, value);
            self.tree.touched.push(field);
        }
    }

    fn end(&mut self, outcome: Result<(), Violation>) {
        let row = self.row as u32;
        for (number, field) in (0..).zip(&self.tree.touched) {
            if !self.fields.is_kept(*field) {
                continue;
            }
            match outcome {
                Ok(()) => _ = self.tree.firsts[field.slot].get_or_insert((row, number)),
                Err(_) => self.cells.set(field.slot, self.row, Cell::Missing),
            }
        }
        if let Err((at, reason)) = outcome {
            self.tree.malformed.push(Malformed { record: row, at: at as u32, reason });
        }
        self.row += 1;
    }
}

/// Hash of the path of a key in the object with another path.
fn hash(path: u128, key: &[u8]) -> u128 {
    XxHash3_128::oneshot_with_seed((path >> 64) as u64 ^ path as u64, key)
}
