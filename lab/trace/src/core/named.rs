// SPDX-License-Identifier: GPL-2.0-or-later
//! An object of a report whose keys are names that are known at run time only, in the order in which they came.

use serde::ser::{Serialize, SerializeMap, Serializer};
use std::borrow::Cow;

pub struct Named<T>(Vec<(Cow<'static, str>, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named(Vec::new())
    }
}

impl<T> Named<T> {
    pub fn put(&mut self, name: impl Into<Cow<'static, str>>, what: T) {
        self.0.push((name.into(), what));
    }
}

impl<T, N: Into<Cow<'static, str>>> FromIterator<(N, T)> for Named<T> {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(all: I) -> Self {
        Named(all.into_iter().map(|(name, what)| (name.into(), what)).collect())
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, what)| map.serialize_entry(name, what))?;
        map.end()
    }
}
