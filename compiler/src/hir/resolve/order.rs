//! Orders things by what they need, and finds those that need themselves. Iterative: a chain of any length is fine.

/// An order in which everything comes after what it needs, and the circles that were found (each from first to last).
/// Members of a circle are in the order too.
pub fn order(needs: &[Vec<usize>]) -> (Vec<usize>, Vec<Vec<usize>>) {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; needs.len()];
    let mut done = Vec::with_capacity(needs.len());
    let mut circles = Vec::new();
    for start in 0..needs.len() {
        if states[start] != State::New {
            continue;
        }
        // Each entry: a thing, and how many of its needs have been looked at.
        let mut path = vec![(start, 0)];
        states[start] = State::Open;
        while let Some((thing, next)) = path.last_mut() {
            let Some(need) = needs[*thing].get(*next).copied() else {
                states[*thing] = State::Done;
                done.push(*thing);
                path.pop();
                continue;
            };
            *next += 1;
            match states.get(need) {
                Some(State::New) => {
                    states[need] = State::Open;
                    path.push((need, 0));
                }
                Some(State::Open) => {
                    let from = path.iter().position(|(thing, _)| *thing == need).unwrap_or(0);
                    circles.push(path[from..].iter().map(|(thing, _)| *thing).collect());
                }
                _ => {}
            }
        }
    }
    (done, circles)
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn needs_come_first() {
        assert_eq!(order(&[vec![2], vec![0], vec![]]), (vec![2, 0, 1], vec![]));
    }

    #[test]
    fn circles_are_found_once() {
        let (done, circles) = order(&[vec![1], vec![2], vec![1], vec![3]]);
        assert_eq!(circles, vec![vec![1, 2], vec![3]]);
        assert_eq!(done.len(), 4);
    }

    #[test]
    fn long_chains_do_not_overflow() {
        let needs: Vec<Vec<usize>> = (0..200_000).map(|n| if n == 199_999 { vec![] } else { vec![n + 1] }).collect();
        assert_eq!(order(&needs).0[0], 199_999);
    }
}
