//! The wanted fields as a tree, so that paths with a common beginning are walked once.

use crate::query::field::Step;

/// Index of the root in a [`WantedTree`].
pub(super) const ROOT: usize = 0;

/// Up to this many keys of a node are compared one after the other; more are searched by bisection.
const FEW_KEYS: usize = 8;

/// All wanted paths. A node stands for the value that the path to it leads to.
#[derive(Debug)]
pub(super) struct WantedTree {
    nodes: Vec<WantedNode>,
}

/// A value that is wanted, or in which others are wanted.
#[derive(Debug, Default)]
pub(super) struct WantedNode {
    /// Members of an object, ordered by key.
    keys: Vec<(Box<[u8]>, usize)>,
    /// Elements of an array, ordered by index.
    indexes: Vec<(usize, usize)>,
    /// The columns of the value itself.
    pub(super) columns: Vec<usize>,
    /// Number of columns of all wanted values below the keys.
    pub(super) in_object: usize,
    /// Number of columns of all wanted values below the indexes.
    pub(super) in_array: usize,
}

impl WantedTree {
    /// Builds the tree of the paths of all columns.
    pub(super) fn new<'p>(paths: impl Iterator<Item = &'p [Step]>) -> Self {
        let mut nodes = vec![WantedNode::default()];
        for (column, path) in paths.enumerate() {
            let mut at = ROOT;
            for step in path {
                let next = nodes.len();
                let child = nodes[at].child(step, next);
                if child == next {
                    nodes.push(WantedNode::default());
                }
                at = child;
            }
            nodes[at].columns.push(column);
        }
        Self { nodes }
    }

    /// Number of nodes, which are numbered from 0.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn node(&self, number: usize) -> &WantedNode {
        &self.nodes[number]
    }
}

impl WantedNode {
    /// Returns the number of the child at a step, which becomes `next` if there is none. Counts a column below it.
    fn child(&mut self, step: &Step, next: usize) -> usize {
        match step {
            Step::Key(key) => {
                self.in_object += 1;
                insert(&mut self.keys, key.as_bytes().into(), next)
            }
            Step::Index(index) => {
                self.in_array += 1;
                insert(&mut self.indexes, *index, next)
            }
        }
    }

    /// Number of columns of the value and all below it.
    pub(super) fn total(&self) -> usize {
        self.columns.len() + self.below()
    }

    /// Number of columns of the values below this one.
    pub(super) fn below(&self) -> usize {
        self.in_object + self.in_array
    }

    /// The child with a decoded key.
    #[inline(always)]
    pub(super) fn at_key(&self, key: &[u8]) -> Option<usize> {
        if self.keys.len() > FEW_KEYS {
            return self.bisect(key);
        }
        for (wanted, child) in &self.keys {
            if **wanted == *key {
                return Some(*child);
            }
        }
        None
    }

    #[inline(never)]
    fn bisect(&self, key: &[u8]) -> Option<usize> {
        let found = self.keys.binary_search_by(|(wanted, _)| (**wanted).cmp(key)).ok()?;
        Some(self.keys[found].1)
    }

    /// The child at `index` if it is the wanted element with this number in the order of their indexes.
    #[inline(always)]
    pub(super) fn at_index(&self, number: usize, index: usize) -> Option<usize> {
        match self.indexes.get(number) {
            Some(&(wanted, child)) if wanted == index => Some(child),
            _ => None,
        }
    }
}

/// Returns the child at a step in an ordered list, and inserts `next` if there is none.
fn insert<S: Ord>(children: &mut Vec<(S, usize)>, step: S, next: usize) -> usize {
    match children.binary_search_by(|(other, _)| other.cmp(&step)) {
        Ok(found) => children[found].1,
        Err(place) => {
            children.insert(place, (step, next));
            next
        }
    }
}
