//! Share of each column of a picture for which a thread ran.

/// The share of each of `columns` equal parts of a time, from 0 to 1, that slices cover. Slices are in order,
/// and those that are not, or reach beyond the end, are cut.
pub(super) fn coverage(slices: &[[u64; 2]], time: u64, columns: usize) -> Vec<f64> {
    let mut shares = vec![0.0; columns];
    let mut covered = 0;
    for &[from, to] in slices {
        let (from, to) = (from.max(covered), to.min(time));
        if from >= to {
            continue;
        }
        covered = to;
        let place = |at: u64| at as f64 / time as f64 * columns as f64;
        let (from, to) = (place(from), place(to));
        let last = (to.ceil() as usize).min(columns);
        for (column, share) in shares.iter_mut().enumerate().take(last).skip(from as usize) {
            let (left, right) = (column as f64, column as f64 + 1.0);
            *share += (to.min(right) - from.max(left)).max(0.0);
        }
    }
    shares
}

/// Neighbouring columns that look the same, as one: where it begins, how many they are, and of `shades`
/// shades (the last is full, 0 is none) which they have. Those of shade 0 are left out.
pub(super) fn runs(shares: &[f64], shades: u32) -> Vec<(usize, usize, u32)> {
    let shade = |share: f64| {
        let shade = (share * f64::from(shades)).round() as u32;
        // What ran at all is seen.
        if share > 0.0 { shade.clamp(1, shades) } else { 0 }
    };
    let mut runs: Vec<(usize, usize, u32)> = Vec::new();
    for (column, &share) in shares.iter().enumerate() {
        match (shade(share), runs.last_mut()) {
            (0, _) => {}
            (shade, Some((start, length, same))) if *same == shade && *start + *length == column => {
                *length += 1
            }
            (shade, _) => runs.push((column, 1, shade)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn slices_that_are_thinner_than_a_column_add_up() {
        assert_eq!(coverage(&[[0, 16], [24, 48], [50, 51], [52, 53]], 64, 4), [1.0, 0.5, 1.0, 0.125]);
        assert_eq!(coverage(&[[5, 900]], 40, 2), [0.75, 1.0]);
        assert_eq!(coverage(&[[9, 3], [0, 0]], 40, 2), [0.0, 0.0]);
        assert_eq!(coverage(&[[0, 5]], 0, 2), [0.0, 0.0]);
    }

    #[test]
    fn columns_that_look_the_same_become_one() {
        assert_eq!(runs(&[1.0, 1.0, 0.0, 0.5, 0.01, 1.0], 4), [(0, 2, 4), (3, 1, 2), (4, 1, 1), (5, 1, 4)]);
        assert_eq!(runs(&[0.0; 3], 4), []);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(cuts in prop::collection::btree_set(0_u64..=1000, 0..20), columns in 1_usize..50) {
            let cuts: Vec<u64> = cuts.into_iter().collect();
            let slices: Vec<[u64; 2]> = cuts.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
            let ran: u64 = slices.iter().map(|[from, to]| to - from).sum();
            let shares = coverage(&slices, 1000, columns);
            prop_assert!(shares.iter().all(|share| (0.0..=1.000_001).contains(share)));
            let drawn = shares.iter().sum::<f64>() / columns as f64 * 1000.0;
            prop_assert!((drawn - ran as f64).abs() < 1e-6);
        }
    }
}
