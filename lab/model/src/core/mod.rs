// SPDX-License-Identifier: GPL-2.0-or-later
//! What machines of every processor consist of: sets of entries and what leaves them, caches, the ledger, what
//! refills are charged to, machine files. Only `schema.rs` knows which processors there are.

pub(crate) mod address;
mod associative;
mod cache;
mod causes;
mod code;
mod counted;
mod ledger;
pub(crate) mod loss_history;
mod machine_file;
pub(crate) mod notes;
mod physical_memory;
pub(crate) mod reports;
pub(crate) mod schema;
pub(crate) mod shapes;
mod tables;

pub use address::{Address, Linear, Page, Physical};
pub use associative::{Associative, Replacement};
pub use cache::{AsTagged, Cache, CacheShape, Outcome};
pub use causes::{Causes, Charge, Charges, How, Kind, Space, Sum, Switch, KINDS, UNKNOWN};
pub use code::Code;
pub use counted::Counted;
pub use ledger::{Category, Ledger, CATEGORIES};
pub use loss_history::{Loss, Moment, Running, Tag};
pub use machine_file::{MachineFile, Parameter, Value};
pub use notes::Lookup;
pub use physical_memory::PhysicalMemory;
pub use reports::{Mistake, Report, Reports};
pub use schema::Architecture;
pub use tables::{Mapping, Tables};
