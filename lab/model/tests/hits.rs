// SPDX-License-Identifier: GPL-2.0-or-later
//! Events that are known to miss nothing are booked instead of being modelled.

mod common;

use cobnut_model::ia32::Machine;
use cobnut_model::{Linear, Physical};
use common::{pentium4, Identity};

/// Reads the line of this number among those that compete for the four ways of one set.
fn read(machine: &mut Machine, line: u32) {
    let linear = line * 2048;
    if !machine.has_just_seen(Linear(linear), 4, false) {
        machine.data(Linear(linear), Physical(linear), 4, false, &mut Identity::default());
    }
}

/// The line that was accessed last before it is not the last any more: another access to that one counts.
#[test]
fn what_is_used_again_is_the_last_that_is_used() {
    let (mut tables, mut lookups) = (Identity::default(), Vec::new());
    let machine = || Machine::new(&pentium4(&["l1d.replacement:lru"]));
    let (mut modelled, mut knowing) = (machine(), machine());
    let both = |machines: [&mut Machine; 2], lines: &[u32]| {
        machines.into_iter().for_each(|machine| lines.iter().for_each(|&line| read(machine, line)));
    };

    both([&mut modelled, &mut knowing], &[1]);
    knowing.watch();
    both([&mut modelled, &mut knowing], &[1]);
    let hits = knowing.watched(&mut lookups, &mut tables).unwrap();

    both([&mut modelled, &mut knowing], &[2, 3, 0]);
    read(&mut modelled, 1);
    assert!(knowing.use_again(&hits, &mut lookups, &mut tables));
    // Line 0 once more, so that 2, 3 and 1 leave, and it is still there.
    both([&mut modelled, &mut knowing], &[0, 4, 5, 6, 0]);
    assert_eq!(knowing.ledger(), modelled.ledger());
    assert!(!knowing.use_again(&hits, &mut lookups, &mut tables), "line 1 has left");
}
