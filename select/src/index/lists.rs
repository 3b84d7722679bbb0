//! Many short lists in one allocation: tens of thousands of vectors would cost more than what they hold.

/// Lists by number.
#[derive(Debug)]
pub(crate) struct Lists<T> {
    /// Where each list starts in `items`, and where the last one ends.
    starts: Vec<usize>,
    items: Vec<T>,
}

impl<T: Copy + Default> Lists<T> {
    /// Sorts pairs of a list's number (below `count`) and an item into lists; each keeps the order of the pairs.
    pub(crate) fn of_pairs(count: usize, pairs: &[(u32, T)]) -> Self {
        let mut starts = vec![0; count + 1];
        for (list, _) in pairs {
            starts[*list as usize + 1] += 1;
        }
        for list in 0..count {
            starts[list + 1] += starts[list];
        }
        let mut ends = starts.clone();
        let mut items = vec![T::default(); pairs.len()];
        for &(list, item) in pairs {
            let end = &mut ends[list as usize];
            items[*end] = item;
            *end += 1;
        }
        Self { starts, items }
    }

    /// The lists in order, each given whole.
    pub(crate) fn of_lists<L: IntoIterator<Item = T>>(lists: impl Iterator<Item = L>) -> Self {
        let mut starts = vec![0];
        let mut items = Vec::new();
        for list in lists {
            items.extend(list);
            starts.push(items.len());
        }
        Self { starts, items }
    }
}

impl<T> Lists<T> {
    /// The list of this number; empty when there is none.
    pub(crate) fn list(&self, number: u32) -> &[T] {
        let number = number as usize;
        match (self.starts.get(number), self.starts.get(number + 1)) {
            (Some(&start), Some(&end)) => &self.items[start..end],
            _ => &[],
        }
    }

    /// The lists that hold something, with their numbers.
    pub(crate) fn filled(&self) -> impl Iterator<Item = (u32, &[T])> {
        (0_u32..)
            .zip(self.starts.windows(2))
            .filter(|(_, ends)| ends[0] < ends[1])
            .map(|(number, ends)| (number, &self.items[ends[0]..ends[1]]))
    }

    /// How many items all lists hold.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }
}
